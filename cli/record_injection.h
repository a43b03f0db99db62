// The options of `record` that decide what the injected library records, and when.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/command.h"
#include "collect/launch/injection.h"
#include "core/base/result.h"

namespace gpuprof {

// As given on the command line.
struct InjectionArguments {
    std::string api = "selected", graph = "node", cupti = "share", range;
    std::vector<std::string> trace{"cuda", "nvtx", "cpu"};
    double delay = 0, duration = 0, keep_last = 0;  // seconds
    bool memory = false, all_children = false;

    bool traces(std::string_view what) const;
};

void declare_injection(CLI::App& app, InjectionArguments& arguments);
// An error says which value is wrong and what it may be.
Result<InjectionOptions> injection_options(const InjectionArguments& arguments);

}  // namespace gpuprof
