// Two recordings side by side: one word, what it rests on, and tables that say where the difference comes from.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "compare/attribution.h"
#include "compare/change.h"
#include "compare/comparability.h"
#include "compare/kernel_pairs.h"
#include "compare/run.h"
#include "core/model/answer.h"
#include "core/model/result_table.h"

namespace gpuprof::compare {

using Changes = std::array<Change, kMetricCount>;

// The value of every metric of one recording.
using Values = std::array<std::optional<double>, kMetricCount>;
Values values_of(const Run& run);

// Of each metric: by recordings when there are three or more in all, else by steps, else by the two values alone. The repeats
// are recordings beside `base` and `next`.
Changes changes_of(const Run& base, const Run& next, std::span<const Values> base_repeats,
                   std::span<const Values> new_repeats);

// One recording against several before it, none of which is at hand any more.
Changes changes_of(std::span<const Values> base, const Values& next);

// The metric that decides between faster and slower: the median step where both have steps, or the mean when that changed and
// the median is not known to; else the whole time.
Metric deciding_metric(const Changes& changes);

// The metrics as a table.
ResultTable metrics_table(const Changes& changes);

struct Comparison {
    Metric deciding = Metric::wall_time;
    Changes changes;
    Comparability comparability;
    KernelNames base_kernels, new_kernels;
    KernelPairs pairs;
    Attribution attribution;
    std::string recorders_because;  // why kernels decide and not steps, when the two were recorded differently
    bool single_runs = true;        // no repeats on either side

    const Change& change() const { return changes[static_cast<std::size_t>(deciding)]; }
    // Of the program: no word but "cannot tell" when the devices differ.
    Word word() const { return comparability.same_hardware ? change().word : Word::cannot_tell; }
};

Comparison compare_runs(const Run& base, const Run& next, std::span<const Values> base_repeats,
                        std::span<const Values> new_repeats);

// The answer as a line, and why.
std::vector<std::string> headline(const Changes& changes, Metric deciding, Word word);
// "slower   +5.02 % (95 %: 4.81 to 5.20 %), 10.0 ms -> 10.5 ms per step", why, and where the difference comes from.
std::vector<std::string> headline(const Comparison& found);

}  // namespace gpuprof::compare
