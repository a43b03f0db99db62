// The iterations of a program, found in the order of how sure one can be: ranges named ProfilerStep#N; the instances of the
// range or operator the user names; ranges whose name ends in "step", "iteration" or "iter" and that repeat on one thread;
// a sequence of kernels that repeats on one stream. Finds none rather than doubtful ones, and says why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/analyze/facts/facts.h"
#include "core/base/ids.h"
#include "core/base/pod_vector.h"

namespace gpuprof {

struct Step {
    std::string name;
    TimeNs start = 0;
    TimeNs end = 0;
};

// ranges: of the host. launched: on the device, by what the ranges launched. kernels: by their sequence alone.
enum class StepMethod : std::uint8_t { none, ranges, launched, kernels };

struct Steps {
    std::vector<Step> steps;      // by start, disjoint
    StringId thread = kNoString;  // whose ranges they are; none when they come from kernels
    std::string note;             // how they were found when that needs saying, or why there are none
    StepMethod method = StepMethod::none;
    std::string family;  // of ranges: what their names have in common; of kernels: the one that comes once in each

    static Steps make(const Facts& facts);  // as find_steps()
};

Steps find_steps(const Facts& facts);

// The part of find_steps() that looks at names.
Steps find_range_steps(const Facts& facts);

// Whether a range of this name is an iteration by its name alone: "training_step", "Iteration 7", but not "optimizer_step".
bool names_a_step(std::string_view name);

// The part of find_steps() that looks at kernels alone.
Steps find_repeated_kernels(const Facts& facts);

// Steps of the host as the device sees them: from the first kernel that a step launched to the first that the next one
// launched, on the stream with most kernels. The last step has no end, and is none. None at all when a step launched nothing
// there, or when launches are not known.
Steps find_launched_steps(const Facts& facts, const Steps& ranges);

// Kernels of the stream with most of them, by start.
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
    PodVector<Row> rows_;  // empty when the stream has all kernels
};

}  // namespace gpuprof
