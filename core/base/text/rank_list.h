// The global ranks of a process group, as text and as a number. Tables hold the compact text, so that a group of 10,000
// ranks costs a few bytes: items separated by commas, ascending, each a rank, a range or a range with a stride.
//
//   0-7        eight ranks           0,8,16    three ranks
//   0-504/8    0, 8, 16 ... 504      0-3,8,9   two parts
//
// The text of a set is unique, so equal texts are equal groups; hash_ranks() identifies a group across files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::inline base {

// Ascending and distinct, none negative.
using RankList = std::vector<std::int32_t>;

// A longer list is refused, so that a range in a damaged file cannot fill the memory.
inline constexpr std::size_t kMaxRanks = std::size_t{1} << 17;

std::string format_ranks(const RankList& ranks);
// The reverse. Also accepts texts that format_ranks() would have written shorter, but no other order.
std::optional<RankList> parse_ranks(std::string_view text);

// Reads the lists of a job's groups, which together may have 4 Mi ranks: a text of a few bytes stands for up to kMaxRanks, and a file may
// hold thousands of such texts.
class RankLists {
public:
    // As parse_ranks(); nothing, and full(), when there is no room for it.
    std::optional<RankList> parse(std::string_view text);
    bool full() const { return full_; }

private:
    std::size_t room_ = std::size_t{1} << 22;
    bool full_ = false;
};

// start, start + stride, ...: `size` ranks, never expanded, so that a file may claim any number of them.
struct EvenRanks {
    std::int32_t start, stride, size;

    // Nothing if there is no rank, or one would be negative or above 2^31 - 1.
    static std::optional<EvenRanks> of(std::int64_t start, std::int64_t stride, std::int64_t size);
    std::int32_t operator[](std::int32_t index) const { return start + index * stride; }
    bool contains(std::int32_t rank) const;
};
std::string format_ranks(const EvenRanks& ranks);

// A list as frameworks write it: [0, 1, 2]. PyTorch cuts long ones to 30 entries: [0, 1, ..., 28, ..., 63].
struct RecordedRanks {
    std::vector<std::int32_t> listed;  // the entries up to the cut, in the order of the file
    std::optional<std::int32_t> last;  // the entry after the cut

    bool whole() const { return !last.has_value(); }
    RankList sorted() const;
    // Whether these ranks may be the list before it was cut.
    bool cut_from(const RankList& ranks) const;
    bool cut_from(const EvenRanks& ranks) const;
};
// Nothing if the text is not such a list or repeats a rank.
std::optional<RecordedRanks> parse_recorded_ranks(std::string_view text);

// The same on every platform and in every version: FNV-1a over the ranks, four bytes each, the lowest first.
std::uint64_t hash_ranks(const RankList& ranks);

}  // namespace gpuprof::base
