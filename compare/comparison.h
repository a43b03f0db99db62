// Compares two recordings: a verdict, its basis, and tables that attribute the difference.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/attribution.h"
#include "compare/change.h"
#include "compare/comparability.h"
#include "compare/compared_run.h"
#include "compare/kernel_pairs.h"
#include "core/model/answer.h"
#include "core/model/result_table.h"

namespace gpuprof::compare {

using Changes = std::array<Change, kMetricCount>;

// The value of every metric of one recording.
using Values = std::array<std::optional<double>, kMetricCount>;
Values values_of(const Run& run);

// The change of each metric: from recordings if there are three or more in total, else from steps, else from the two
// values alone. Repeats are recordings in addition to `base` and `next`.
Changes changes_of(const Run& base, const Run& next, std::span<const Values> base_repeats,
                   std::span<const Values> new_repeats);

// One recording against earlier ones that are only available as values.
Changes changes_of(std::span<const Values> base, const Values& next);

// The metric that decides between faster and slower: the median step if both have steps. The mean if it changed and the
// median is the same, changed in the other direction, or is unclear; with one recording per side and an unclear median
// only a change of the mean by 10 % or more decides. Without steps the total time.
Metric deciding_metric(const Changes& changes);

// Withdraws a verdict on the median step that the mean step contradicts; the samples are those of the median.
void withdraw_contradicted(Changes& changes, std::span<const double> base, std::span<const double> next);

// The metrics as a table.
ResultTable metrics_table(const Changes& changes);

// How much of the kernel time of each side is in kernels that both sides launch about equally often. Little of it: they
// are different programs, and neither is faster.
struct CommonKernels {
    std::optional<double> base_pct, new_pct;  // absent without kernel time
    bool same_program = true;                 // or unknown
};

struct Comparison {
    Metric deciding = Metric::wall_time;
    Changes changes;
    Comparability comparability;
    KernelNames base_kernels, new_kernels;
    KernelPairs pairs;
    Attribution attribution;
    std::string recorders_because;  // why kernel time decides instead of steps, if the two were recorded differently
    CommonKernels common;
    bool single_runs = true;  // no repeats on either side

    const Change& change() const { return changes[static_cast<std::size_t>(deciding)]; }
    // Why there is no verdict on the program whatever the change; empty if there is one.
    std::string_view not_comparable() const {
        if (!comparability.same_hardware) return "the hardware differs";
        return common.same_program ? "" : "the programs differ";
    }
    Word word() const { return not_comparable().empty() ? change().word : Word::cannot_tell; }
};

// What decides although the steps do not: a single step on a side with a cause that vanished; without steps, a kernel
// whose launches have disjoint durations.
void decide_by_cause(Comparison& found, const Run& base, const Run& next);
void decide_by_kernel(Comparison& found, const Run& base, const Run& next);
// Sets `common` and says what is not common.
void judge_common_kernels(Comparison& found, const Run& base, const Run& next);

Comparison compare_runs(const Run& base, const Run& next, std::span<const Values> base_repeats,
                        std::span<const Values> new_repeats);

// The answer as a line, and why.
std::vector<std::string> headline(const Changes& changes, Metric deciding, Word word);
// "slower   +5.02 % (95 %: 4.81 to 5.20 %), 10.0 ms -> 10.5 ms per step", why, and the origin of the difference.
std::vector<std::string> headline(const Comparison& found);

}  // namespace gpuprof::compare
