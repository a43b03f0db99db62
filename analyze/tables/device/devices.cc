// `devices`: is each GPU busy, with what, and how much of its memcpy and collective time is exposed?
// busy = union of all device ops; idle = window - busy; overlap = a kernel and a memcpy in flight together;
// exposed = in flight while no kernel (for collectives: no other kernel) is. Durations are lengths of unions, never
// sums.
#include "analyze/facts/activity.h"
#include "analyze/facts/kernels/op_rates.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

// The device's name in the trace, or, where ROCm gives an empty one, that of the only known device with its properties.
Cell device_name(const Trace& trace, std::int32_t device) {
    const DeviceTable& devices = trace.tables().device;
    for (Row row = 0; row < devices.rows; ++row)
        if (devices.device[row] == device && devices.name.has(row)) {
            std::string_view name = trace.text(devices.name[row]);
            std::optional<DevicePeaks> peaks = name.empty() ? peaks_of(trace, device) : std::nullopt;
            return peaks ? peaks->device : name;
        }
    return kAbsent;
}

struct DevicesRow {
    const Trace& trace;
    const DeviceActivity& device;
    DurNs window, busy;
};

constexpr auto kDevicesColumns = columns_of<DevicesRow>({
    {"device", CellType::integer, Unit::none, "Device ordinal.", [](auto& r) { return r.device.device; }},
    {"name", CellType::text, Unit::none, "Device name.", [](auto& r) { return device_name(r.trace, r.device.device); }},
    {"window_ns", CellType::integer, Unit::ns, "First start to last end of all host and device events.",
     [](auto& r) { return r.window; }},
    {"busy_ns", CellType::integer, Unit::ns, "Time with any device op in flight.", [](auto& r) { return r.busy; }},
    {"busy_pct", CellType::real, Unit::percent, "busy_ns as a share of window_ns.",
     [](auto& r) { return percent(r.busy, r.window); }},
    {"idle_ns", CellType::integer, Unit::ns, "window_ns - busy_ns.", [](auto& r) { return r.window - r.busy; }},
    {"kernel_busy_ns", CellType::integer, Unit::ns, "Time with a kernel in flight.",
     [](auto& r) { return length(r.device.kernel()); }},
    {"memcpy_busy_ns", CellType::integer, Unit::ns, "Time with a memcpy in flight.",
     [](auto& r) { return length(r.device.memcpy); }},
    {"memset_busy_ns", CellType::integer, Unit::ns, "Time with a memset in flight.",
     [](auto& r) { return length(r.device.memset); }},
    {"comm_busy_ns", CellType::integer, Unit::ns, "Time with a collective kernel in flight.",
     [](auto& r) { return length(r.device.comm); }},
    {"overlap_ns", CellType::integer, Unit::ns, "Time with a kernel and a memcpy in flight.",
     [](auto& r) { return length(intersect(r.device.kernel(), r.device.memcpy)); }},
    {"exposed_memcpy_ns", CellType::integer, Unit::ns, "Time with a memcpy but no kernel in flight.",
     [](auto& r) { return length(subtract(r.device.memcpy, r.device.kernel())); }},
    {"exposed_comm_ns", CellType::integer, Unit::ns, "Time with a collective but no other kernel in flight.",
     [](auto& r) { return length(subtract(r.device.comm, r.device.compute())); }},
    {"kernels", CellType::integer, Unit::count, "Number of kernels executed.",
     [](auto& r) { return r.device.kernels; }},
    {"memcpys", CellType::integer, Unit::count, "Number of memcpys executed.",
     [](auto& r) { return r.device.memcpys; }},
    {"memsets", CellType::integer, Unit::count, "Number of memsets executed.",
     [](auto& r) { return r.device.memsets; }},
    {"streams", CellType::integer, Unit::count, "Number of streams with work.",
     [](auto& r) { return r.device.streams; }},
});

Result<ResultTable> devices_table(const Facts& facts) {
    ResultTable table("devices", kDevicesColumns);
    DurNs window = facts.trace().window().length();
    for (const DeviceActivity& device : facts.get<Activity>().devices)
        table.add(kDevicesColumns, {facts.trace(), device, window, length(device.busy)});
    return table;
}

}  // namespace

const Analysis kDevices{"devices", "cuda_gpu_sum", "Per device: busy, idle, overlap and exposed time.", kDevicesColumns,
                        devices_table};

}  // namespace gpuprof::tables
