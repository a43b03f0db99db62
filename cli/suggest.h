// "Did you mean": the known words closest to one that is not known.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof {

// Up to three of `words` that are a few typing errors away from `word`, or begin or contain it; the closest first.
std::vector<std::string_view> close_matches(std::string_view word, std::span<const std::string_view> words);
// "; did you mean a or b?", or "" without a match.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> words);
// "a, b, c"
std::string joined(std::span<const std::string_view> words, std::string_view between = ", ");

}  // namespace gpuprof
