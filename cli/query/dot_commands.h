// The dot commands of `query`: what can be queried, and how answers are shown.
#pragma once

#include <span>
#include <string_view>

#include "cli/query/run_query.h"

namespace gpuprof::inline cli {

struct DotCommand {
    std::string_view name;       // ".schema"
    std::string_view arguments;  // "[TABLE...]"
    std::string_view doc;
    Status (*run)(QueryRun& run, std::span<const std::string_view> arguments);
};

std::span<const DotCommand> dot_commands();
bool is_dot_command(std::string_view text);
Status run_dot_command(QueryRun& run, std::string_view text);

}  // namespace gpuprof::cli
