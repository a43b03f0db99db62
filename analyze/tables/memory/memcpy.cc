// `memcpy`: how much was copied between which kinds of memory, and how fast? One row per kind, source and destination.
// busy = union of the copies per device, summed over devices; the rate is bytes over the sum of the durations, in 1e9
// B/s. A sum of bytes is absent when the size of any of its copies is unknown.
#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct Copies {
    std::uint64_t count = 0;
    WideSum total, bytes;
    bool bytes_known = true;
    std::map<std::int32_t, Intervals> spans;  // by device
};

using CopyKey = std::tuple<std::string_view, std::string_view, std::string_view>;  // kind, source, destination

std::map<CopyKey, Copies> gather_copies(const Trace& trace, std::int64_t only_device) {
    std::map<CopyKey, Copies> found;
    const MemcpyTable& table = trace.memcpy();
    auto text = [&](const Column<StringId>& column, Row row) { return trace.text(column.value_or(row, kNoString)); };
    for (Row row = 0; row < table.rows; ++row) {
        std::int32_t device = table.device.value_or(row, -1);
        if (only_device >= 0 && device != only_device) continue;
        Copies& to = found[{text(table.kind, row), text(table.src, row), text(table.dst, row)}];
        ++to.count;
        to.total.add(table.dur[row]);
        to.bytes.add(table.bytes[row]);
        to.bytes_known = to.bytes_known && table.bytes.has(row);
        to.spans[device].push_back({table.start[row], table.start[row] + table.dur[row]});
    }
    return found;
}

WideSum busy(Copies& copies) {
    WideSum sum;
    for (auto& [device, spans] : copies.spans) sum.add(length(unite(std::move(spans))));
    return sum;
}

struct MemcpyRow {
    std::string_view kind, src, dst;
    const Copies& copies;
    WideSum busy;
};

constexpr auto kMemcpyColumns = columns_of<MemcpyRow>({
    {"kind", CellType::text, Unit::none, "HtoD, DtoH, DtoD, HtoH or PtoP.", [](auto& r) { return text_cell(r.kind); }},
    {"src", CellType::text, Unit::none, "Memory kind of the source.", [](auto& r) { return text_cell(r.src); }},
    {"dst", CellType::text, Unit::none, "Memory kind of the destination.", [](auto& r) { return text_cell(r.dst); }},
    {"count", CellType::integer, Unit::count, "Number of copies.", [](auto& r) { return r.copies.count; }},
    {"bytes", CellType::integer, Unit::bytes, "Bytes copied.",
     [](auto& r) { return r.copies.bytes_known ? integer(r.copies.bytes.value()) : kAbsent; }},
    {"total_ns", CellType::integer, Unit::ns, "Sum of the durations.", [](auto& r) { return r.copies.total.value(); }},
    {"busy_ns", CellType::integer, Unit::ns, "Time with such a copy in flight, summed over devices.",
     [](auto& r) { return r.busy.value(); }},
    {"mean_bytes", CellType::real, Unit::bytes, "Mean bytes per copy.",
     [](auto& r) { return r.copies.bytes_known ? real(r.copies.bytes.over(r.copies.count)) : kAbsent; }},
    {"gb_per_s", CellType::real, Unit::gb_per_s, "bytes over total_ns.",
     [](auto& r) { return r.copies.bytes_known ? ratio(r.copies.bytes.real(), r.copies.total.real()) : kAbsent; }},
});

Result<ResultTable> memcpy_table(const Facts& facts) {
    std::map<CopyKey, Copies> found = gather_copies(facts.trace(), facts.options().device);
    std::vector<std::pair<const CopyKey, Copies>*> order;
    for (auto& entry : found) order.push_back(&entry);
    std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->second.total > b->second.total; });

    ResultTable table("memcpy", kMemcpyColumns);
    table.handle_prefix = "m";
    for (auto* entry : order) {
        const auto& [kind, src, dst] = entry->first;
        table.add(kMemcpyColumns, {kind, src, dst, entry->second, busy(entry->second)});
    }
    return table;
}

}  // namespace

const Analysis kMemcpy{"memcpy", "cuda_gpu_mem_time_sum cuda_gpu_mem_size_sum",
                       "Per kind of copy: bytes, time and throughput.", kMemcpyColumns, memcpy_table};

}  // namespace gpuprof::tables
