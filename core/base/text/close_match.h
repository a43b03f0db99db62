// Unknown names in messages: the closest known names as suggestions, or all of them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace gpuprof::inline base {

// "unknown KIND 'NAME'; did you mean 'x'?", or with all known names without a close match.
Error unknown_choice(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known);

// Up to three of `words` that differ from `word` by a few typing errors, or that one contains in the other; the closest
// first.
std::vector<std::string_view> close_matches(std::string_view word, std::span<const std::string_view> words);
// "; did you mean 'a' or 'b'?", or "" without a match.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> words);
// "a, b, c"
std::string joined(std::span<const std::string_view> words, std::string_view between = ", ");

}  // namespace gpuprof::base
