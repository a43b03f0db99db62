// The iterations of a program, tried in order of reliability: the range or operator that the user names; the iterations of
// a server's engine (iterations.h); ranges named ProfilerStep#N; ranges whose name ends in "step", "iteration" or "iter" and that repeat on one
// thread; a sequence of kernels that repeats on one stream. Reports no steps rather than doubtful ones, and says why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/facts/facts.h"
#include "core/base/ids.h"
#include "core/base/pod_vector.h"

namespace gpuprof::inline facts {

struct Step {
    std::string name;
    TimeNs start = 0;
    TimeNs end = 0;
};

// The last step that began by then: what happens between two steps belongs to the first. Absent before the first step.
std::optional<std::size_t> last_step_before(const std::vector<Step>& steps, TimeNs time);

// The step in which something happened; absent between steps.
std::optional<std::size_t> step_at(const std::vector<Step>& steps, TimeNs time);

// ranges: host ranges. launched: device time of the work launched by the ranges. kernels: the kernel sequence alone.
enum class StepMethod : std::uint8_t { none, ranges, launched, kernels };

struct Steps {
    std::vector<Step> steps;      // by start, disjoint
    StringId thread = kNoString;  // thread of the ranges; kNoString if steps come from kernels
    std::string note;             // how steps were found, if not obvious, or why none were
    StepMethod method = StepMethod::none;
    std::string family;  // ranges: common part of the names; kernels: the kernel that occurs once per step

    static Steps make(const Facts& facts);  // as find_steps()
};

Steps find_steps(const Facts& facts);

// The part of find_steps() that uses names.
Steps find_range_steps(const Facts& facts);

// Whether the name alone marks a range as an iteration: "training_step", "Iteration 7", but not "optimizer_step".
bool names_a_step(std::string_view name);

// The part of find_steps() that uses kernels only.
Steps find_repeated_kernels(const Facts& facts);

// Host steps as seen by the device: from the first kernel that a step launched to the first that the next step
// launched, on the stream with the most kernels. The last step has no end and is omitted, because what the host would have
// done before the next one is unknown. So are steps without kernels before the first and after the last other one. No
// steps if one between launched nothing on that stream, or if launches are unknown.
Steps find_launched_steps(const Facts& facts, const Steps& ranges);

// How much the device lags behind the host when a step's range ends. Work left over is harmless if it is the same after
// every step: then the host waits once per step for the step before. If it grows and shrinks, as between
// synchronisations that do not come in every step, the ranges measure how fast work is submitted.
struct StepBacklog {
    double late_pct = 0;   // of the device work of the steps: what ran after the range that launched it
    double moved_pct = 0;  // of the same: the sum of the differences between what neighbouring steps leave over
};

// Absent if there are no steps, no device work in them, or launches are unknown.
std::optional<StepBacklog> backlog_of(const Facts& facts, const Steps& ranges);

// Kernels of the stream with the most kernels, by start.
class BusiestStream {
public:
    BusiestStream(const KernelTable& kernels, std::int64_t only_device);
    std::size_t size() const { return size_; }
    // The row of the i-th kernel.
    Row operator[](std::size_t i) const { return rows_.empty() ? static_cast<Row>(i) : rows_[i]; }
    StringId name(std::size_t i) const { return kernels_.name.value_or((*this)[i], kNoString); }

private:
    const KernelTable& kernels_;
    std::size_t size_ = 0;
    PodVector<Row> rows_;  // empty if the stream has all kernels
};

}  // namespace gpuprof::facts
