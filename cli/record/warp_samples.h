// Samples of stalled warps: the options of `record` and `counters`, and the part that they become after the run.
#pragma once

#include <string>
#include <vector>

#include "cli/command_options.h"
#include "collect/counters/sample_rows.h"
#include "core/base/result.h"
#include "core/schema/recorder_settings.h"

namespace gpuprof::inline cli {

struct WarpSampleArguments {
    bool stalls = false;
    std::string period;  // as the user wrote it
};
void declare_warp_samples(CommandLine& line, WarpSampleArguments& arguments);
// Into the settings of the library; an error names the value.
Status apply_warp_samples(const WarpSampleArguments& arguments, RecorderSettings& recorder);

// Attributes the samples in a folder of spool files to source lines, as one more part in it. Does nothing without samples,
// or if an earlier attempt did it. Prints notes.
void attribute_samples(const std::string& folder, bool with_trace,
                       const std::vector<counters::TracedProcess>& processes = {});
// Whether a file of the folder is such a part.
bool is_sample_part(const std::string& file);

}  // namespace gpuprof::cli
