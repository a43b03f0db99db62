// Options are heard or refused: an option that no shown analysis reads, and a name that matches nothing in the recording, are
// errors with what the user may have meant. Without these checks a typing error would change the answer in silence.
#pragma once

#include <span>
#include <string>

#include "analyze/tables/analysis.h"
#include "core/base/result.h"

namespace gpuprof::inline tables {

// "--gap-min-ns"
std::string flag_of(AnalysisOption option);
// The options that differ from their defaults.
OptionSet given_options(const Options& options);
// Of `all`, the analyses that read `option`, as in "`gaps` and `findings`".
std::string readers_of(AnalysisOption option, std::span<const Analysis* const> all);
// An error if an option was given that none of `shown` reads.
Status check_options(const Options& options, std::span<const Analysis* const> shown,
                     std::span<const Analysis* const> all);

// An error if `options` name a device, range, kernel or change that `trace` does not have. Of the whole recording, before a
// part is selected.
Status check_names(const Trace& trace, const Options& options);

}  // namespace gpuprof::tables
