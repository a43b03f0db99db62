#include "analyze/facts/kernels/counter_match.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>

#include "core/base/text/function_name.h"

namespace gpuprof::inline facts {
namespace {

// Words that tools add or leave out.
constexpr std::string_view kNoise[] = {"native",   "anonymous", "namespace", "unnamed",  "lambda", "instance",
                                       "operator", "const",     "void",      "unsigned", "long"};
constexpr std::size_t kShortestWord = 3;

bool of_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// Sorted, each once.
std::vector<std::string_view> parts_of_name(std::string_view name) {
    std::vector<std::string_view> words;
    for (std::size_t i = 0; i < name.size();) {
        std::size_t end = i;
        while (end < name.size() && of_word(name[end])) ++end;
        std::string_view word = name.substr(i, end - i);
        bool noise = std::find(std::begin(kNoise), std::end(kNoise), word) != std::end(kNoise);
        if (word.size() >= kShortestWord && !noise) words.push_back(word);
        i = std::max(end, i + 1);
    }
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    return words;
}

// Words in both, of the words in either.
double likeness(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
    std::vector<std::string_view> both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    std::size_t either = a.size() + b.size() - both.size();
    return either == 0 ? 1 : static_cast<double>(both.size()) / static_cast<double>(either);
}

// The names and rows of the timeline's kernels of one function name and shape.
using Places = std::map<std::pair<std::string, GridAndBlock>, std::map<StringId, std::vector<Row>>>;

Places places_of(const Trace& trace) {
    const KernelTable& kernels = trace.kernel();
    std::map<StringId, std::string> short_names;
    Places places;
    for (Row row = 0; row < kernels.rows; ++row) {
        StringId name = kernels.name.value_or(row, kNoString);
        auto [found, first] = short_names.try_emplace(name);
        if (first) found->second = short_name(trace.text(name));
        places[{found->second, grid_and_block(kernels, row)}][name].push_back(row);
    }
    return places;
}

}  // namespace

std::size_t same_kernel(std::string_view name, const std::vector<std::string_view>& candidates) {
    if (auto same = std::find(candidates.begin(), candidates.end(), name); same != candidates.end())
        return static_cast<std::size_t>(same - candidates.begin());
    if (candidates.size() == 1) return 0;
    std::vector<std::string_view> words = parts_of_name(name);
    double best = 0;
    std::size_t found = CounterMatch::kNone;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        double like = likeness(words, parts_of_name(candidates[i]));
        if (like == best) found = CounterMatch::kNone;
        if (like > best) {
            best = like;
            found = i;
        }
    }
    return found;
}

CounterMatch match_counters(const Trace& trace, const std::vector<MeasuredShape>& measured) {
    CounterMatch match;
    match.names.resize(measured.size(), kNoString);
    if (measured.empty() || trace.kernel().rows == 0) return match;
    Places places = places_of(trace);
    for (std::uint32_t i = 0; i < measured.size(); ++i) {
        auto place = places.find({short_name(trace.text(measured[i].name)),
                                  grid_and_block(trace.tables().profiled_kernel, measured[i].row)});
        if (place == places.end()) continue;
        std::vector<std::string_view> names;
        for (const auto& [name, rows] : place->second) names.push_back(trace.text(name));
        std::size_t found = same_kernel(trace.text(measured[i].name), names);
        if (found == CounterMatch::kNone) continue;
        const auto& [name, rows] = *std::next(place->second.begin(), static_cast<std::ptrdiff_t>(found));
        match.names[i] = name;
        match.shape_of.resize(trace.kernel().rows, CounterMatch::kNone);
        for (Row row : rows) match.shape_of[row] = i;
    }
    return match;
}

}  // namespace gpuprof::facts
