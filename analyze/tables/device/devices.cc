// `devices`: is each GPU busy, with what, and how much of its memcpy and collective time is exposed?
// busy = union of all device ops; idle = window - busy; overlap = a kernel and a memcpy in flight together;
// exposed = in flight while no kernel (for collectives: no other kernel) is. Durations are lengths of unions, never
// sums.
#include "analyze/facts/activity.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

// The device's name in the trace; absent if not recorded.
Cell device_name(const Trace& trace, std::int32_t device) {
    const DeviceTable& devices = trace.tables().device;
    for (Row row = 0; row < devices.rows; ++row)
        if (devices.device[row] == device && devices.name.has(row)) return trace.text(devices.name[row]);
    return kAbsent;
}

constexpr ResultColumn kDevicesColumns[] = {
    {"device", CellType::integer, Unit::none, "Device ordinal."},
    {"name", CellType::text, Unit::none, "Device name."},
    {"window_ns", CellType::integer, Unit::ns, "First start to last end of all host and device events."},
    {"busy_ns", CellType::integer, Unit::ns, "Time with any device op in flight."},
    {"busy_pct", CellType::real, Unit::percent, "busy_ns as a share of window_ns."},
    {"idle_ns", CellType::integer, Unit::ns, "window_ns - busy_ns."},
    {"kernel_busy_ns", CellType::integer, Unit::ns, "Time with a kernel in flight."},
    {"memcpy_busy_ns", CellType::integer, Unit::ns, "Time with a memcpy in flight."},
    {"memset_busy_ns", CellType::integer, Unit::ns, "Time with a memset in flight."},
    {"comm_busy_ns", CellType::integer, Unit::ns, "Time with a collective kernel in flight."},
    {"overlap_ns", CellType::integer, Unit::ns, "Time with a kernel and a memcpy in flight."},
    {"exposed_memcpy_ns", CellType::integer, Unit::ns, "Time with a memcpy but no kernel in flight."},
    {"exposed_comm_ns", CellType::integer, Unit::ns, "Time with a collective but no other kernel in flight."},
    {"kernels", CellType::integer, Unit::count, "Number of kernels executed."},
    {"memcpys", CellType::integer, Unit::count, "Number of memcpys executed."},
    {"memsets", CellType::integer, Unit::count, "Number of memsets executed."},
    {"streams", CellType::integer, Unit::count, "Number of streams with work."},
};

Result<ResultTable> devices_table(const Facts& facts) {
    ResultTable table("devices", kDevicesColumns);
    DurNs window = facts.trace().window().length();
    for (const DeviceActivity& device : facts.get<Activity>().devices) {
        DurNs busy = length(device.busy);
        table.add_row({
            integer(device.device),
            device_name(facts.trace(), device.device),
            integer(window),
            integer(busy),
            percent(busy, window),
            integer(window - busy),
            integer(length(device.kernel())),
            integer(length(device.memcpy)),
            integer(length(device.memset)),
            integer(length(device.comm)),
            integer(length(intersect(device.kernel(), device.memcpy))),
            integer(length(subtract(device.memcpy, device.kernel()))),
            integer(length(subtract(device.comm, device.compute))),
            integer(device.kernels),
            integer(device.memcpys),
            integer(device.memsets),
            integer(device.streams),
        });
    }
    return table;
}

}  // namespace

const Analysis kDevices{"devices", "cuda_gpu_sum", "Per device: busy, idle, overlap and exposed time.", kDevicesColumns,
                        devices_table};

}  // namespace gpuprof::tables
