// The options of `record` that decide what the injected library records, and when.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "collect/launch/injection.h"
#include "core/base/result.h"

namespace gpuprof {

// As given on the command line; what needs no more than a look is in `recorder` already.
struct InjectionArguments {
    std::vector<std::string> trace{"cuda", "nvtx", "cpu"};
    std::string range;
    RecorderSettings recorder;

    bool traces(std::string_view what) const;
};

void declare_injection(CommandLine& line, InjectionArguments& arguments);
// An error says which value is wrong and what it may be.
Result<InjectionOptions> injection_options(const InjectionArguments& arguments);

}  // namespace gpuprof
