#include "core/model/build/links.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/string_pool.h"
#include "core/model/managed_memory.h"
#include "core/model/tables.h"

namespace gpuprof::inline model {
namespace {

// std::popcount is a call of a function where the compiler may not assume that the CPU has an instruction for it.
std::size_t ones_in(std::uint64_t bits) {
    bits -= (bits >> 1) & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + ((bits >> 2) & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return (bits * 0x0101010101010101u) >> 56;
}

// The calls of one process by correlation id. Recorders number calls consecutively but do not record all of them, so a
// bitmap holds the recorded ids and rows are stored only for those: the row of an id is at its rank, the number of ids
// below it. Sparse ids are sorted instead; their rank is found by bisection. If ids ascend from call to call, as those of
// one thread do, the row is the first one's plus the rank, and rows are not stored.
// Filled in three passes over the calls: note() each, prepare(), mark() each, rank(), add() each unless is_in_order().
class CallsById {
public:
    void note(std::int64_t id, Row row) {
        if (count_ == 0) first_ = row;
        in_order_ = in_order_ && (count_ == 0 || id > highest_) && row == first_ + count_;
        lowest_ = std::min(lowest_, id);
        highest_ = std::max(highest_, id);
        ++count_;
    }
    void prepare() {
        auto span = count_ == 0 ? 0 : static_cast<std::uint64_t>(highest_) - static_cast<std::uint64_t>(lowest_);
        if (count_ > 0 && span < 256 * count_ + 4096) words_.resize(span / 64 + 1, Word{0, 0});
    }
    void mark(std::int64_t id) {
        if (words_.empty()) return ids_.push_back(id);
        words_[offset_of(id) / 64].present |= bit_of(id);
    }
    void rank() {
        std::sort(ids_.begin(), ids_.end());
        ids_.resize(static_cast<std::size_t>(std::unique(ids_.begin(), ids_.end()) - ids_.begin()));
        std::uint64_t below = ids_.size();
        for (Word& word : words_) {
            word.below = static_cast<Row>(below);
            below += ones_in(word.present);
        }
        if (!in_order_) rows_.resize(below, kNoRow);
    }
    bool is_in_order() const { return in_order_; }
    // Whether the id was free.
    bool add(std::int64_t id, Row row) {
        Row& known = rows_[rank_of(id)];
        if (known != kNoRow) return false;
        known = row;
        return true;
    }
    // The id of a call that is not the first with it.
    void note_duplicate(std::int64_t id) { duplicates_.push_back(id); }
    void note_work(std::int64_t id) {
        if (duplicates_.empty()) return;
        if (has_work_.empty()) has_work_.resize(rows_.size(), 0);
        has_work_[rank_of(id)] = 1;
    }
    std::uint64_t duplicates_with_work() const {
        std::uint64_t sum = 0;
        if (!has_work_.empty())
            for (std::int64_t id : duplicates_) sum += has_work_[rank_of(id)];
        return sum;
    }
    bool has_duplicates() const { return !duplicates_.empty(); }
    bool before_all(std::int64_t id) const { return id < lowest_; }
    Row find(std::int64_t id) const {
        if (count_ == 0 || id < lowest_ || id > highest_) return kNoRow;
        bool is_recorded = words_.empty() ? std::binary_search(ids_.begin(), ids_.end(), id)
                                          : (words_[offset_of(id) / 64].present & bit_of(id)) != 0;
        if (!is_recorded) return kNoRow;
        return in_order_ ? first_ + static_cast<Row>(rank_of(id)) : rows_[rank_of(id)];
    }

private:
    struct Word {
        std::uint64_t present;  // which of 64 ids are present
        Row below;              // number of ids before these
    };
    std::uint64_t offset_of(std::int64_t id) const {
        return static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(lowest_);
    }
    std::uint64_t bit_of(std::int64_t id) const { return std::uint64_t{1} << (offset_of(id) % 64); }
    std::size_t rank_of(std::int64_t id) const {
        if (words_.empty())
            return static_cast<std::size_t>(std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin());
        const Word& word = words_[offset_of(id) / 64];
        return word.below + ones_in(word.present & (bit_of(id) - 1));
    }

    std::int64_t lowest_ = INT64_MAX, highest_ = INT64_MIN;
    std::uint64_t count_ = 0;
    Row first_ = kNoRow;
    bool in_order_ = true;
    PodVector<Word> words_;
    PodVector<Row> rows_;          // by rank, unless in order
    PodVector<std::int64_t> ids_;  // if there is no bitmap
    PodVector<std::int64_t> duplicates_;
    PodVector<std::uint8_t> has_work_;  // by rank; only if there are duplicates
};

// Keyed by the process key's id; processes are few.
using Calls = std::unordered_map<std::uint32_t, CallsById>;

Calls index_calls(const ApiCallTable& calls) {
    Calls by_process;
    auto each_call = [&](auto&& visit) {
        CallsById* known = nullptr;
        StringId process = kNoString;
        for (Row row = 0; row < calls.rows; ++row) {
            if (!calls.correlation.has(row)) continue;
            if (known == nullptr || calls.process[row] != process) {
                process = calls.process[row];
                known = &by_process[index_of(process)];
            }
            visit(*known, row, calls.correlation[row]);
        }
    };
    each_call([](CallsById& known, Row row, std::int64_t id) { known.note(id, row); });
    for (auto& [process, known] : by_process) known.prepare();
    each_call([](CallsById& known, Row, std::int64_t id) { known.mark(id); });
    for (auto& [process, known] : by_process) known.rank();
    if (std::all_of(by_process.begin(), by_process.end(), [](const auto& each) { return each.second.is_in_order(); }))
        return by_process;
    each_call([](CallsById& known, Row row, std::int64_t id) {
        if (known.is_in_order()) return;
        if (!known.add(id, row)) known.note_duplicate(id);
    });
    return by_process;
}

// A call and the call that it makes may share an id; that leaves no doubt as long as no work has it.
void count_duplicates(const Calls& by_process, LinkCounts& counts) {
    for (const auto& [process, calls] : by_process) counts.duplicate_correlations += calls.duplicates_with_work();
}

// Ops are looked up on all CPUs, unless calls share ids: then it is noted which ones work has.
template <class Table, class WithoutCall>
PodVector<Row> link(const Table& ops, Calls& by_process, LinkCounts& counts, WithoutCall&& has_no_call) {
    constexpr std::size_t kBlock = std::size_t{1} << 18;  // rows
    PodVector<Row> launch(ops.rows);
    auto look_up = [&](Row row, Row end, LinkCounts& found) {
        CallsById* known = nullptr;
        StringId process = kNoString;
        for (bool first = true; row < end; ++row, first = false) {
            if (first || ops.process[row] != process) {
                process = ops.process[row];
                auto calls = by_process.find(index_of(process));
                known = calls == by_process.end() ? nullptr : &calls->second;
            }
            bool checkable = known != nullptr && ops.correlation.has(row);
            launch[row] = checkable ? known->find(ops.correlation[row]) : kNoRow;
            if (launch[row] != kNoRow) {
                known->note_work(ops.correlation[row]);
                continue;
            }
            bool by_device = known != nullptr && !ops.correlation.has(row) && ops.graph_id.has(row);
            if (by_device || has_no_call(row)) continue;  // a graph that the device launched has no call
            if (!checkable)
                ++found.ops_uncheckable;
            else
                ++(known->before_all(ops.correlation[row]) ? found.ops_before_calls : found.ops_without_call);
        }
    };
    bool duplicates = std::any_of(by_process.begin(), by_process.end(),
                                  [](const auto& calls) { return calls.second.has_duplicates(); });
    std::vector<LinkCounts> found(ops.rows / kBlock + 1);
    run_parallel(found.size(), duplicates ? 1 : default_threads(), [&](std::size_t block, unsigned) {
        look_up(static_cast<Row>(block * kBlock), static_cast<Row>(std::min(ops.rows, (block + 1) * kBlock)),
                found[block]);
    });
    for (const LinkCounts& part : found) {
        counts.ops_before_calls += part.ops_before_calls;
        counts.ops_without_call += part.ops_without_call;
        counts.ops_uncheckable += part.ops_uncheckable;
    }
    return launch;
}

}  // namespace

Links link_launches(const Tables& tables, const StringPool& strings) {
    Links links;
    LinkCounts& counts = links.counts;
    Calls calls = index_calls(tables.api_call);
    StringId managed = strings.find(kManagedMemory);
    auto never = [](Row) { return false; };
    links.kernel_launch = link(tables.kernel, calls, counts, never);
    links.memcpy_launch =
        link(tables.memcpy, calls, counts, [&](Row copy) { return is_migration(tables.memcpy, copy, managed); });
    links.memset_launch = link(tables.memset, calls, counts, never);
    count_duplicates(calls, counts);
    return links;
}

}  // namespace gpuprof::model
