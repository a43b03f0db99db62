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

constexpr ResultColumn kMemcpyColumns[] = {
    {"kind", CellType::text, Unit::none, "HtoD, DtoH, DtoD, HtoH or PtoP."},
    {"src", CellType::text, Unit::none, "Memory kind of the source."},
    {"dst", CellType::text, Unit::none, "Memory kind of the destination."},
    {"count", CellType::integer, Unit::count, "Number of copies."},
    {"bytes", CellType::integer, Unit::bytes, "Bytes copied."},
    {"total_ns", CellType::integer, Unit::ns, "Sum of the durations."},
    {"busy_ns", CellType::integer, Unit::ns, "Time with such a copy in flight, summed over devices."},
    {"mean_bytes", CellType::real, Unit::bytes, "Mean bytes per copy."},
    {"gb_per_s", CellType::real, Unit::gb_per_s, "bytes over total_ns."},
};

Result<ResultTable> memcpy_table(const Facts& facts) {
    std::map<CopyKey, Copies> found = gather_copies(facts.trace(), facts.options().device);
    std::vector<std::pair<const CopyKey, Copies>*> order;
    for (auto& entry : found) order.push_back(&entry);
    std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->second.total > b->second.total; });

    ResultTable table("memcpy", kMemcpyColumns);
    table.handle_prefix = "m";
    for (auto* entry : order) {
        const auto& [kind, src, dst] = entry->first;
        Copies& copies = entry->second;
        table.add_row({
            text_cell(kind),
            text_cell(src),
            text_cell(dst),
            integer(copies.count),
            copies.bytes_known ? integer(copies.bytes.value()) : kAbsent,
            integer(copies.total.value()),
            integer(busy(copies).value()),
            copies.bytes_known ? real(copies.bytes.over(copies.count)) : kAbsent,
            copies.bytes_known ? ratio(copies.bytes.real(), copies.total.real()) : kAbsent,
        });
    }
    return table;
}

}  // namespace

const Analysis kMemcpy{"memcpy", "cuda_gpu_mem_time_sum cuda_gpu_mem_size_sum",
                       "Per kind of copy: bytes, time and throughput.", kMemcpyColumns, memcpy_table};

}  // namespace gpuprof::tables
