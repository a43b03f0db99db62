#include "core/base/text/rank_list.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "core/base/fnv.h"

namespace gpuprof::inline base {
namespace {

constexpr std::size_t kShortestRange = 3, kShortestStride = 4;  // below, a list is as short and easier to read

std::string range_text(std::int32_t first, std::int32_t last, std::int64_t stride) {
    std::string text = std::to_string(first) + '-' + std::to_string(last);
    if (stride > 1) text += '/' + std::to_string(stride);
    return text;
}

// Reads text from the front.
class Cursor {
public:
    explicit Cursor(std::string_view text) : rest_(text) {}

    bool at_end() const { return rest_.empty(); }
    bool take(std::string_view word) {
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    bool take_rank(std::int32_t& rank) {
        auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), rank);
        if (error != std::errc{} || rank < 0) return false;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return true;
    }
    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

private:
    std::string_view rest_;
};

// How many ranks from `first` on have the distance of the first two.
std::size_t run_length(const RankList& ranks, std::size_t first) {
    if (first + 1 >= ranks.size()) return 1;
    std::size_t end = first + 2;
    auto step = [&](std::size_t to) { return std::int64_t{ranks[to]} - ranks[to - 1]; };
    while (end < ranks.size() && step(end) == step(first + 1)) ++end;
    return end - first;
}

// Appends first, first + stride, ... up to `last`, which must be one of them.
bool append_range(RankList& ranks, std::int32_t first, std::int32_t last, std::int32_t stride) {
    if (last < first || stride < 1 || (last - first) % stride != 0) return false;
    std::size_t count = static_cast<std::size_t>((last - first) / stride) + 1;
    if (count > kMaxRanks - ranks.size() || (!ranks.empty() && first <= ranks.back())) return false;
    for (std::size_t i = 0; i < count; ++i) ranks.push_back(first + static_cast<std::int32_t>(i) * stride);
    return true;
}

}  // namespace

std::string format_ranks(const RankList& ranks) {
    std::string text;
    for (std::size_t at = 0; at < ranks.size();) {
        std::size_t length = run_length(ranks, at);
        std::int64_t stride = length > 1 ? std::int64_t{ranks[at + 1]} - ranks[at] : 1;
        if (length < (stride == 1 ? kShortestRange : kShortestStride)) length = 1;
        if (!text.empty()) text += ',';
        text += length > 1 ? range_text(ranks[at], ranks[at + length - 1], stride) : std::to_string(ranks[at]);
        at += length;
    }
    return text;
}

std::optional<RankList> parse_ranks(std::string_view text) {
    RankList ranks;
    Cursor cursor(text);
    do {
        std::int32_t first = 0, stride = 1;
        if (!cursor.take_rank(first)) return std::nullopt;
        std::int32_t last = first;
        if (cursor.take("-") && (!cursor.take_rank(last) || (cursor.take("/") && !cursor.take_rank(stride))))
            return std::nullopt;
        if (!append_range(ranks, first, last, stride)) return std::nullopt;
    } while (cursor.take(","));
    if (!cursor.at_end()) return std::nullopt;
    return ranks;
}

std::optional<RankList> RankLists::parse(std::string_view text) {
    if (full_) return std::nullopt;
    std::optional<RankList> ranks = parse_ranks(text);
    full_ = ranks && ranks->size() > room_;
    if (full_) return std::nullopt;
    if (ranks) room_ -= ranks->size();
    return ranks;
}

std::optional<EvenRanks> EvenRanks::of(std::int64_t start, std::int64_t stride, std::int64_t size) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
    if (start < 0 || start > kMax || stride < 1 || stride > kMax || size < 1) return std::nullopt;
    if (size > static_cast<std::int64_t>(kMaxRanks) || size - 1 > (kMax - start) / stride) return std::nullopt;
    return EvenRanks{static_cast<std::int32_t>(start), static_cast<std::int32_t>(stride),
                     static_cast<std::int32_t>(size)};
}

bool EvenRanks::contains(std::int32_t rank) const {
    return rank >= start && (rank - start) % stride == 0 && (rank - start) / stride < size;
}

std::string format_ranks(const EvenRanks& ranks) {
    if (ranks.size >= static_cast<std::int32_t>(ranks.stride == 1 ? kShortestRange : kShortestStride))
        return range_text(ranks[0], ranks[ranks.size - 1], ranks.stride);
    RankList few;
    for (std::int32_t i = 0; i < ranks.size; ++i) few.push_back(ranks[i]);
    return format_ranks(few);
}

RankList RecordedRanks::sorted() const {
    RankList ranks = listed;
    std::sort(ranks.begin(), ranks.end());
    return ranks;
}

bool RecordedRanks::cut_from(const RankList& ranks) const {
    auto has = [&](std::int32_t rank) { return std::binary_search(ranks.begin(), ranks.end(), rank); };
    return last && ranks.size() > listed.size() && has(*last) && std::all_of(listed.begin(), listed.end(), has);
}

bool RecordedRanks::cut_from(const EvenRanks& ranks) const {
    auto has = [&](std::int32_t rank) { return ranks.contains(rank); };
    return last && static_cast<std::size_t>(ranks.size) > listed.size() && has(*last) &&
           std::all_of(listed.begin(), listed.end(), has);
}

std::optional<RecordedRanks> parse_recorded_ranks(std::string_view text) {
    RecordedRanks recorded;
    Cursor cursor(text);
    cursor.skip_blanks();
    if (!cursor.take("[")) return std::nullopt;
    cursor.skip_blanks();
    for (bool first = true; !cursor.take("]"); first = false) {
        if ((!first && !cursor.take(",")) || recorded.last) return std::nullopt;
        cursor.skip_blanks();
        std::int32_t rank = 0;
        bool cut = cursor.take("...");
        if (cut) {
            cursor.skip_blanks();
            if (!cursor.take(",")) return std::nullopt;
            cursor.skip_blanks();
        }
        if (!cursor.take_rank(rank) || recorded.listed.size() == kMaxRanks) return std::nullopt;
        if (cut)
            recorded.last = rank;
        else
            recorded.listed.push_back(rank);
        cursor.skip_blanks();
    }
    cursor.skip_blanks();
    RankList all = recorded.sorted();
    if (recorded.last) all.insert(std::lower_bound(all.begin(), all.end(), *recorded.last), *recorded.last);
    bool distinct = std::adjacent_find(all.begin(), all.end()) == all.end();
    if (!cursor.at_end() || !distinct) return std::nullopt;
    return recorded;
}

std::uint64_t hash_ranks(const RankList& ranks) {
    std::uint64_t hash = kFnvBasis;
    for (std::int32_t rank : ranks)
        for (int shift = 0; shift < 32; shift += 8) {
            char byte = static_cast<char>(static_cast<std::uint32_t>(rank) >> shift & 0xFF);
            hash = fnv1a({&byte, 1}, hash);
        }
    return hash;
}

}  // namespace gpuprof::base
