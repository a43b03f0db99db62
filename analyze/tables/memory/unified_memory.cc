// `unified_memory`: how much managed memory migrated automatically between host and devices? One row per device and
// direction.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"
#include "core/model/managed_memory.h"

namespace gpuprof::inline tables {
namespace {

struct MigrationTotals {
    std::uint64_t count = 0;
    WideSum bytes, total;
    bool bytes_known = true;
};

struct UnifiedMemoryRow {
    std::int32_t device;
    std::string_view direction;
    const MigrationTotals& of;
};

constexpr auto kUnifiedMemoryColumns = columns_of<UnifiedMemoryRow>({
    {"device", CellType::integer, Unit::none, "Device ordinal.",
     [](auto& r) { return r.device < 0 ? kAbsent : integer(r.device); }},
    {"direction", CellType::text, Unit::none,
     "HtoD: pages accessed by the device; DtoH: pages accessed by the host; DtoD.",
     [](auto& r) { return text_cell(r.direction); }},
    {"count", CellType::integer, Unit::count, "Number of migrations.", [](auto& r) { return r.of.count; }},
    {"bytes", CellType::integer, Unit::bytes, "Bytes moved.",
     [](auto& r) { return r.of.bytes_known ? integer(r.of.bytes.value()) : kAbsent; }},
    {"mean_bytes", CellType::real, Unit::bytes, "Mean bytes per migration.",
     [](auto& r) { return r.of.bytes_known ? real(r.of.bytes.over(r.of.count)) : kAbsent; }},
    {"total_ns", CellType::integer, Unit::ns, "Sum of the durations.", [](auto& r) { return r.of.total.value(); }},
    {"gb_per_s", CellType::real, Unit::gb_per_s, "bytes over total_ns.",
     [](auto& r) { return r.of.bytes_known ? ratio(r.of.bytes.real(), r.of.total.real()) : kAbsent; }},
});

// "1,204 page faults of devices, most by write accesses (800); 17 page faults of the host, most in fill (a.cu:12) (12)."
std::string fault_note(const Trace& trace, std::int64_t only) {
    const PageFaultTable& faults = trace.tables().page_fault;
    std::map<std::string_view, std::int64_t> accesses, places;
    std::int64_t of_devices = 0, of_host = 0;
    for (Row row = 0; row < faults.rows; ++row) {
        if (only >= 0 && faults.device.value_or(row, static_cast<std::int32_t>(only)) != only) continue;
        std::int64_t count = std::max<std::int64_t>(0, faults.faults.value_or(row, 1));
        (faults.device.has(row) ? of_devices : of_host) += count;
        if (faults.access.has(row)) accesses[trace.text(faults.access[row])] += count;
        if (faults.place.has(row)) places[trace.text(faults.place[row])] += count;
    }
    auto most = [](const auto& counts) {
        return std::max_element(counts.begin(), counts.end(), [](auto& a, auto& b) { return a.second < b.second; });
    };
    std::string text;
    if (of_devices > 0)
        text = fmt::format("{} of devices", readable_count(static_cast<std::size_t>(of_devices), "page fault"));
    if (!accesses.empty())
        text +=
            fmt::format(", most by {} accesses ({})", most(accesses)->first, readable_count(most(accesses)->second));
    if (of_host > 0)
        text += fmt::format("{}{} of the host", text.empty() ? "" : "; ",
                            readable_count(static_cast<std::size_t>(of_host), "page fault"));
    if (!places.empty())
        text += fmt::format(", most in {} ({})", most(places)->first, readable_count(most(places)->second));
    return text.empty() ? "" : text + ".";
}

Result<ResultTable> unified_memory_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const MemcpyTable& copies = trace.memcpy();
    ResultTable table("unified_memory", kUnifiedMemoryColumns);
    table.handle_prefix = "um";
    std::int64_t only = facts.options().device;
    StringId managed = trace.strings().find(kManagedMemory);
    std::map<std::pair<std::int32_t, std::string_view>, MigrationTotals> moves;
    for (Row row = 0; row < copies.rows; ++row) {
        std::int32_t device = copies.device.value_or(row, -1);
        if ((only >= 0 && device != only) || !is_migration(copies, row, managed)) continue;
        MigrationTotals& of = moves[{device, trace.text(copies.kind.value_or(row, kNoString))}];
        ++of.count;
        of.total.add(copies.dur[row]);
        of.bytes.add(copies.bytes.value_or(row, 0));
        of.bytes_known = of.bytes_known && copies.bytes.has(row);
    }
    for (const auto& [key, of] : moves) table.add(kUnifiedMemoryColumns, {key.first, key.second, of});
    if (std::string faults = fault_note(trace, only); !faults.empty()) table.notes.push_back(faults);
    if (moves.empty())
        table.notes.push_back(
            "No migrations of managed memory were recorded; nsys profile --cuda-um-cpu-page-faults=true "
            "--cuda-um-gpu-page-faults=true records them.");
    return table;
}

}  // namespace

const Analysis kUnifiedMemory{"unified_memory", "um_sum um_total_sum",
                              "Per device and direction: migrations of managed memory.", kUnifiedMemoryColumns,
                              unified_memory_table};

}  // namespace gpuprof::tables
