#include "cli/choice.h"

#include <fmt/format.h>

#include "cli/suggest.h"

namespace gpuprof {

Error unknown_choice(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known) {
    std::string hint = did_you_mean(name, known);
    if (hint.empty()) hint = fmt::format("; there are: {}", joined(known));
    return {ExitCode::usage, fmt::format("there is no {} {}{}", kind, name, hint)};
}

}  // namespace gpuprof
