#include "core/base/text/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <cstdint>

namespace gpuprof::inline base {
namespace {

constexpr std::size_t kMaxPatternLength = 1000;
// What a compiled pattern and its states may use. It also bounds the time per byte of text, when the states do not fit.
constexpr std::int64_t kMaxPatternBytes = 512 << 10;

}  // namespace

void Pattern::Free::operator()(re2::RE2* compiled) const { delete compiled; }

Result<Pattern> Pattern::compile(const std::string& text) {
    if (text.size() > kMaxPatternLength) return Error{ExitCode::usage, "the pattern exceeds 1,000 bytes"};
    bool any_case = text.starts_with("(?i)");
    RE2::Options options;
    options.set_posix_syntax(true);
    options.set_one_line(true);
    options.set_perl_classes(true);
    options.set_word_boundary(true);
    options.set_dot_nl(true);
    options.set_never_capture(true);
    options.set_log_errors(false);
    options.set_case_sensitive(!any_case);
    options.set_max_mem(kMaxPatternBytes);
    Pattern pattern;
    pattern.compiled_.reset(new RE2(text.substr(any_case ? 4 : 0), options));
    if (!pattern.compiled_->ok())
        return Error{ExitCode::usage, fmt::format("invalid pattern '{}': {}", text, pattern.compiled_->error())};
    return pattern;
}

bool matches_glob(std::string_view glob, std::string_view text) {
    std::size_t at = 0, taken = 0;                        // in the glob and the text
    std::size_t star = std::string_view::npos, from = 0;  // the last *, and where in the text its rest is tried
    while (taken < text.size()) {
        if (at < glob.size() && glob[at] == '*') {
            star = at++;
            from = taken;
        } else if (at < glob.size() && glob[at] == text[taken]) {
            ++at;
            ++taken;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            taken = ++from;
        } else {
            return false;
        }
    }
    return glob.find_first_not_of('*', at) == std::string_view::npos;
}

bool Pattern::matches(std::string_view text) const {
    return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

}  // namespace gpuprof::base
