#include "core/model/links.h"

#include <algorithm>
#include <unordered_map>

#include "core/model/tables.h"

namespace gpuprof {
namespace {

// The calls of one process by correlation id. Recorders number calls densely, so a flat array serves; scattered ids fall
// back to a hash map.
class CallsById {
public:
    void note(std::int64_t id) {
        lowest_ = std::min(lowest_, id);
        highest_ = std::max(highest_, id);
        ++count_;
    }
    void prepare() {
        if (count_ == 0) return;
        auto span = static_cast<std::uint64_t>(highest_) - static_cast<std::uint64_t>(lowest_);
        if (span < 16 * count_ + 4096) flat_.resize(span + 1, kNoRow);
    }
    // Whether the id was free.
    bool add(std::int64_t id, Row row) {
        if (flat_.empty()) return scattered_.emplace(id, row).second;
        Row& slot = flat_[slot_of(id)];
        if (slot != kNoRow) return false;
        slot = row;
        return true;
    }
    Row find(std::int64_t id) const {
        if (count_ == 0 || id < lowest_ || id > highest_) return kNoRow;
        if (!flat_.empty()) return flat_[slot_of(id)];
        auto found = scattered_.find(id);
        return found == scattered_.end() ? kNoRow : found->second;
    }

private:
    std::size_t slot_of(std::int64_t id) const { return static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(lowest_); }

    std::int64_t lowest_ = INT64_MAX, highest_ = INT64_MIN;
    std::uint64_t count_ = 0;
    PodVector<Row> flat_;
    std::unordered_map<std::int64_t, Row> scattered_;
};

// Keyed by the process key's id; processes are few.
using Calls = std::unordered_map<std::uint32_t, CallsById>;

Calls index_calls(const ApiCallTable& calls, LinkCounts& counts) {
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
    each_call([](CallsById& known, Row, std::int64_t id) { known.note(id); });
    for (auto& [process, known] : by_process) known.prepare();
    each_call([&](CallsById& known, Row row, std::int64_t id) {
        if (!known.add(id, row)) ++counts.duplicate_correlations;
    });
    return by_process;
}

template <class Table>
PodVector<Row> link(const Table& ops, const Calls& by_process, LinkCounts& counts) {
    PodVector<Row> launch(ops.rows, kNoRow);
    for (Row row = 0; row < ops.rows; ++row) {
        auto known = by_process.find(index_of(ops.process[row]));
        if (known != by_process.end() && ops.correlation.has(row)) launch[row] = known->second.find(ops.correlation[row]);
        if (launch[row] == kNoRow) ++counts.unmatched;
    }
    return launch;
}

}  // namespace

Links link_launches(const Tables& tables, LinkCounts& counts) {
    Calls calls = index_calls(tables.api_call, counts);
    Links links;
    links.kernel_launch = link(tables.kernel, calls, counts);
    links.memcpy_launch = link(tables.memcpy, calls, counts);
    links.memset_launch = link(tables.memset, calls, counts);
    return links;
}

}  // namespace gpuprof
