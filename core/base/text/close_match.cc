#include "core/base/text/close_match.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <numeric>
#include <utility>

namespace gpuprof::inline base {

Error unknown_choice(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known) {
    std::string hint = did_you_mean(name, known);
    if (hint.empty()) hint = fmt::format("; expected one of: {}", joined(known));
    return {ExitCode::usage, fmt::format("unknown {} '{}'{}", kind, name, hint)};
}

namespace {

// Insertions, deletions and substitutions between two words (Levenshtein), one row of the matrix at a time.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, change}));
        }
    }
    return row.back();
}

constexpr std::size_t kMaxWordLength = 64;  // longer words are not typing errors

// Edit distance of a word from a known one, for sorting. It is at most 1 if one word contains the other.
std::size_t edit_distance(std::string_view word, std::string_view known) {
    std::size_t edits = distance(word, known);
    bool part =
        word.size() >= 3 && (known.find(word) != std::string_view::npos || word.find(known) != std::string_view::npos);
    return part ? std::min<std::size_t>(edits, 1) : edits;
}

}  // namespace

std::vector<std::string_view> close_matches(std::string_view word, std::span<const std::string_view> words) {
    std::vector<std::pair<std::size_t, std::string_view>> found;
    if (word.size() > kMaxWordLength) return {};
    for (std::string_view known : words)
        if (std::size_t far = edit_distance(word, known); far <= std::max<std::size_t>(1, word.size() / 3))
            found.emplace_back(far, known);
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string_view> out;
    for (const auto& [far, known] : found)
        if (out.size() < 3) out.push_back(known);
    return out;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> words) {
    std::vector<std::string_view> matches = close_matches(word, words);
    if (matches.empty()) return {};
    std::vector<std::string> quoted;
    for (std::string_view match : matches) quoted.push_back(fmt::format("'{}'", match));
    return fmt::format("; did you mean {}?", fmt::join(quoted, " or "));
}

std::string joined(std::span<const std::string_view> words, std::string_view between) {
    return fmt::format("{}", fmt::join(words.begin(), words.end(), between));
}

}  // namespace gpuprof::base
