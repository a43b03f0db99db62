// The options of `record` that decide what the injected library records, and when.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_options.h"
#include "collect/launch/injection.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

// The values from the command line; simple ones are already in `recorder`.
struct InjectionArguments {
    std::vector<std::string> trace{"cuda", "nvtx", "cpu"};
    std::string range, steps;
    RecorderSettings recorder;

    bool traces(std::string_view what) const;
};

void declare_injection(CommandLine& line, InjectionArguments& arguments);
// An error names the invalid value and the accepted ones.
Result<InjectionOptions> injection_options(const InjectionArguments& arguments);

}  // namespace gpuprof::cli
