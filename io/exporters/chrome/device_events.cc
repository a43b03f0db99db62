// ChromeEvents' device side: kernels, copies, fills, waits, projected ranges, and the arrows from their calls. As in
// Kineto, the process of an event is the device and its thread is the stream.
#include <fmt/format.h>

#include "io/exporters/chrome/events.h"

namespace gpuprof::inline exporters {
namespace {

std::string capitalised(std::string_view text) {
    std::string result(text);
    if (!result.empty() && result[0] >= 'a' && result[0] <= 'z') result[0] = static_cast<char>(result[0] - 'a' + 'A');
    return result;
}

}  // namespace

template <class Table>
ChromeEvents::Head ChromeEvents::device_head(const Table& table, Row row, std::string_view category,
                                             std::string_view name) const {
    return {
        "X",           category, name, table.device.value_or(row, 0), table.stream.value_or(row, 0), table.start[row],
        table.dur[row]};
}

template <class Table>
void ChromeEvents::device_args(const Table& table, Row row) {
    number("External id", table.external_id, row);
    number_or_null("device", table.device, row);
    number("context", table.context, row);
    number_or_null("stream", table.stream, row);
    number("correlation", table.correlation, row);
    number("graph id", table.graph_id, row);
    number("graph node id", table.graph_node_id, row);
}

void ChromeEvents::launch_arrow(Row launch, const Head& device_op) {
    const ApiCallTable& call = tables_.api_call;
    if (launch == kNoRow || !call.correlation.has(launch)) return;
    HostId id = host(call.thread, launch);
    flow_end("s", "ac2g", call.correlation[launch], id.pid, id.tid, call.start[launch]);
    flow_end("f", "ac2g", call.correlation[launch], device_op.pid, device_op.tid, device_op.time);
}

void ChromeEvents::shape(std::string_view key, const Column<std::int32_t>& x, const Column<std::int32_t>& y,
                         const Column<std::int32_t>& z, Row row) {
    if (!x.has(row)) return;
    json_.key(key);
    json_.begin_array();
    json_.integer(x[row]);
    if (y.has(row)) json_.integer(y[row]);
    if (y.has(row) && z.has(row)) json_.integer(z[row]);
    json_.end_array();
}

void ChromeEvents::kernels() {
    const KernelTable& kernel = tables_.kernel;
    for (Row row = 0; row < kernel.rows; ++row) {
        Head head = device_head(kernel, row, "kernel", text_of(kernel.name, row));
        open(head);
        device_args(kernel, row);
        number("registers per thread", kernel.registers, row);
        number("shared memory", kernel.shared_bytes, row);
        number("local memory", kernel.local_bytes, row);
        shape("cluster", kernel.cluster_x, kernel.cluster_y, kernel.cluster_z, row);
        text("tf_op", kernel.framework_op, row);
        text("hlo_op", kernel.hlo_op, row);
        text("hlo_module", kernel.hlo_module, row);
        shape("grid", kernel.grid_x, kernel.grid_y, kernel.grid_z, row);
        shape("block", kernel.block_x, kernel.block_y, kernel.block_z, row);
        collective_args(device_collectives_, kernel.correlation, row);
        close();
        launch_arrow(trace_.links().kernel_launch[row], head);
    }
}

void ChromeEvents::memcpys() {
    const MemcpyTable& copy = tables_.memcpy;
    for (Row row = 0; row < copy.rows; ++row) {
        std::string name = fmt::format("Memcpy {}", text_of(copy.kind, row));
        if (copy.src.has(row)) {
            name += " (" + capitalised(trace_.text(copy.src[row]));
            if (copy.dst.has(row)) name += " -> " + capitalised(trace_.text(copy.dst[row]));
            name += ")";
        }
        Head head = device_head(copy, row, "gpu_memcpy", name);
        open(head);
        device_args(copy, row);
        number("bytes", copy.bytes, row);
        close();
        launch_arrow(trace_.links().memcpy_launch[row], head);
    }
}

void ChromeEvents::memsets() {
    const MemsetTable& fill = tables_.memset;
    for (Row row = 0; row < fill.rows; ++row) {
        std::string name = "Memset";
        if (fill.kind.has(row)) name += " (" + capitalised(trace_.text(fill.kind[row])) + ")";
        Head head = device_head(fill, row, "gpu_memset", name);
        open(head);
        device_args(fill, row);
        number("bytes", fill.bytes, row);
        close();
        launch_arrow(trace_.links().memset_launch[row], head);
    }
}

void ChromeEvents::syncs() {
    const SyncTable& sync = tables_.sync;
    for (Row row = 0; row < sync.rows; ++row) {
        open(device_head(sync, row, "cuda_sync", text_of(sync.kind, row)));
        text("cuda_sync_kind", sync.kind, row);
        number_or_null("device", sync.device, row);
        number("context", sync.context, row);
        number_or_null("stream", sync.stream, row);
        number("correlation", sync.correlation, row);
        number("wait_on_stream", sync.wait_on_stream, row);
        number("wait_on_cuda_event_record_corr_id", sync.wait_on_correlation, row);
        close();
    }
}

void ChromeEvents::device_ranges() {
    const DeviceRangeTable& range = tables_.device_range;
    for (Row row = 0; row < range.rows; ++row) {
        open(device_head(range, row, "gpu_user_annotation", text_of(range.name, row)));
        number("External id", range.external_id, row);
        // Its process and thread are device and stream. Holistic Trace Analysis takes events with the argument for
        // kernels.
        if (!range.device.has(row)) number_or_null("device", range.device, row);
        if (!range.stream.has(row)) number_or_null("stream", range.stream, row);
        close();
    }
}

}  // namespace gpuprof::exporters
