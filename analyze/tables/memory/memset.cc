// `memset`: bytes set, by kind of memory. The sum of bytes is absent when the size of any memset is unknown.
#include <algorithm>
#include <map>
#include <vector>

#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct MemsetTotals {
    std::uint64_t count = 0;
    WideSum total, bytes;
    bool bytes_known = true;
};

struct MemsetRow {
    std::string_view kind;
    const MemsetTotals& fills;
};

constexpr auto kMemsetColumns = columns_of<MemsetRow>({
    {"memory_kind", CellType::text, Unit::none, "Kind of memory.", [](auto& r) { return text_cell(r.kind); }},
    {"count", CellType::integer, Unit::count, "Number of memsets.", [](auto& r) { return r.fills.count; }},
    {"bytes", CellType::integer, Unit::bytes, "Bytes set.",
     [](auto& r) { return r.fills.bytes_known ? integer(r.fills.bytes.value()) : kAbsent; }},
    {"total_ns", CellType::integer, Unit::ns, "Sum of the durations.", [](auto& r) { return r.fills.total.value(); }},
});

Result<ResultTable> memset_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const MemsetTable& memset = trace.memset();
    std::int64_t only = facts.options().device;
    std::map<std::string_view, MemsetTotals> by_kind;
    for (Row row = 0; row < memset.rows; ++row) {
        if (only >= 0 && memset.device.value_or(row, -1) != only) continue;
        MemsetTotals& to = by_kind[trace.text(memset.kind.value_or(row, kNoString))];
        ++to.count;
        to.total.add(memset.dur[row]);
        to.bytes.add(memset.bytes[row]);
        to.bytes_known = to.bytes_known && memset.bytes.has(row);
    }
    std::vector<std::pair<std::string_view, MemsetTotals>> order(by_kind.begin(), by_kind.end());
    std::stable_sort(order.begin(), order.end(), [](auto& a, auto& b) { return a.second.total > b.second.total; });

    ResultTable table("memset", kMemsetColumns);
    table.handle_prefix = "s";
    for (const auto& [kind, fills] : order) table.add(kMemsetColumns, {kind, fills});
    return table;
}

}  // namespace

const Analysis kMemset{"memset", "", "Per kind of memory: memsets, bytes and time.", kMemsetColumns, memset_table};

}  // namespace gpuprof::tables
