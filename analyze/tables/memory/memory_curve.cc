// `memory_curve`: how did the parts of a device's memory change? One row per device and change, from the first to the
// last sample of used memory. In each row, the parts add up to used_bytes to the byte; a part whose source was not
// recorded is absent and contained in the remainder (facts/memory_account.h).
#include "analyze/facts/memory/memory_account.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

// Adds a part that may be absent.
void add_to(std::optional<std::int64_t>& sum, std::optional<std::int64_t> part) {
    if (part) sum = sum.value_or(0) + *part;
}

struct Parts {
    std::int64_t used = 0;
    std::optional<std::int64_t> allocated, cached, calls, rest, others, device_rest, not_attributed;
    bool operator==(const Parts&) const = default;
};

Parts parts_of(const MemoryAccount& account) {
    Parts parts;
    parts.used = account.used.value_or(0);
    for (const ProcessAccount& process : account.processes) {
        add_to(parts.allocated, process.allocated);
        add_to(parts.cached, process.cached);
        add_to(parts.calls, process.calls);
        add_to(parts.rest, process.rest);
    }
    if (account.device_rest) parts.others = 0;
    for (auto [pid, bytes] : account.others) add_to(parts.others, bytes);
    parts.device_rest = account.device_rest;
    parts.not_attributed = account.not_attributed;
    return parts;
}

struct MemoryCurveRow {
    std::int32_t device;
    DurNs at;  // since the start
    const Parts& parts;
};

constexpr auto kMemoryCurveColumns = columns_of<MemoryCurveRow>({
    {"device", CellType::integer, Unit::none, "Device ordinal.",
     [](auto& r) { return r.device < 0 ? kAbsent : integer(r.device); }},
    {"at_ns", CellType::integer, Unit::ns, "Time of the sample, relative to the window start.",
     [](auto& r) { return r.at; }},
    {"used_bytes", CellType::integer, Unit::bytes, "Memory in use on the device, as reported by NVML.",
     [](auto& r) { return r.parts.used; }},
    {"allocated_bytes", CellType::integer, Unit::bytes, "Allocated by frameworks in recorded processes.",
     [](auto& r) { return r.parts.allocated; }},
    {"cached_bytes", CellType::integer, Unit::bytes, "Reserved by these frameworks and not allocated.",
     [](auto& r) { return r.parts.cached; }},
    {"calls_bytes", CellType::integer, Unit::bytes, "Other allocations by CUDA calls of recorded processes.",
     [](auto& r) { return r.parts.calls; }},
    {"rest_bytes", CellType::integer, Unit::bytes,
     "Rest of the recorded processes: CUDA context, code, unrecorded memory.", [](auto& r) { return r.parts.rest; }},
    {"others_bytes", CellType::integer, Unit::bytes, "Processes that were not recorded.",
     [](auto& r) { return r.parts.others; }},
    {"device_rest_bytes", CellType::integer, Unit::bytes, "Memory that NVML assigns to no process.",
     [](auto& r) { return r.parts.device_rest; }},
    {"not_attributed_bytes", CellType::integer, Unit::bytes,
     "In place of the last three if the memory of processes is unknown: everything else.",
     [](auto& r) { return r.parts.not_attributed; }},
});

Result<ResultTable> memory_curve_table(const Facts& facts) {
    ResultTable result("memory_curve", kMemoryCurveColumns);
    for (const auto& [device, memory] : facts.get<DeviceMemories>().by_device) {
        std::optional<Parts> last;
        for (const auto& [time, used] : memory.used) {
            Parts now = parts_of(account_at(memory, time, used));
            if (last && *last == now) continue;
            last = now;
            result.add(kMemoryCurveColumns, {device, span_between(facts.trace().zero(), time), now});
        }
    }
    if (result.rows() == 0)
        result.notes.push_back("Used memory was not sampled; gpu-profile record -- CMD samples it.");
    return result;
}

}  // namespace

const Analysis kMemoryCurve{"memory_curve",
                            "",
                            "Per device and change: the parts of the used memory over time.",
                            kMemoryCurveColumns,
                            memory_curve_table,
                            {.of_whole = true}};

}  // namespace gpuprof::tables
