#include "core/base/pattern.h"

#include <fmt/format.h>

namespace gpuprof::inline base {
namespace {

// Patterns are short; the limit keeps nested repetitions from exhausting memory.
constexpr std::size_t kMaxPatternLength = 1000;

}  // namespace

Result<Pattern> Pattern::compile(const std::string& text) {
    if (text.size() > kMaxPatternLength) return Error{ExitCode::usage, "the pattern exceeds 1,000 bytes"};
    bool any_case = text.starts_with("(?i)");
    auto compiled = std::make_unique<regex_t>();
    int code = regcomp(compiled.get(), text.c_str() + (any_case ? 4 : 0),
                       REG_EXTENDED | REG_NOSUB | (any_case ? REG_ICASE : 0));
    if (code != 0) {
        char why[128];
        regerror(code, compiled.get(), why, sizeof why);
        return Error{ExitCode::usage, fmt::format("invalid pattern '{}': {}", text, why)};
    }
    Pattern pattern;
    pattern.compiled_.reset(compiled.release());
    return pattern;
}

}  // namespace gpuprof::base
