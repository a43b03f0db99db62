// An analysis: a pure function from the facts of one recording (the trace, the options, and results that several
// analyses share) to a ResultTable. It never prints. analysis_list.h lists all analyses; adding one takes one file and
// one line.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyze/facts/facts.h"
#include "core/base/result.h"
#include "core/model/result_table.h"

namespace gpuprof::inline tables {

struct AnalysisTraits {
    bool about_idle = false;  // its figures depend on idle time, which a recorder can distort
    bool replays = false;     // replays the recording, which takes long for large ones (Replayed::too_large)
    bool of_job = false;      // about the ranks of a distributed job
    bool of_whole = false;    // about the whole recording, whatever part others cover: what is held, lost or impossible
    OptionSet reads = {};  // besides those of every analysis (`reads` below); `kernel` is also the word after its name
};

struct Analysis {
    std::string_view name;
    std::string_view aliases;  // other accepted names (nsys reports), separated by spaces
    std::string_view doc;
    std::span<const ResultColumn> columns;
    Result<ResultTable> (*run)(const Facts&);
    AnalysisTraits traits = {};

    // Rows are limited and devices selected everywhere; steps decide which part of the recording an analysis covers.
    constexpr bool reads(AnalysisOption option) const {
        using enum AnalysisOption;
        return option == limit || option == device || (option == step_range && !traits.of_whole) ||
               traits.reads.has(option);
    }
};

}  // namespace gpuprof::tables
