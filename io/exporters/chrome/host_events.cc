// ChromeEvents' host side: operators, ranges, calls, Python frames, overhead, allocations, autograd arrows.
#include <fmt/format.h>

#include "io/exporters/chrome/events.h"

namespace gpuprof::inline exporters {

void ChromeEvents::ops() {
    const OpTable& op = tables_.op;
    for (Row row = 0; row < op.rows; ++row) {
        open(host_head(op, row, "cpu_op"));
        number("External id", op.external_id, row);
        number("Sequence number", op.sequence, row);
        number("Fwd thread id", op.forward_thread, row);
        json_text("Input Dims", op.input_dims, row);
        json_text("Input type", op.input_types, row);
        json_text("Input Strides", op.input_strides, row);
        json_text("Concrete Inputs", op.concrete_inputs, row);
        text("Call stack", op.call_stack, row);
        text("Module Hierarchy", op.module, row);
        collective_args(host_collectives_, op.external_id, row);
        close();
    }
}

void ChromeEvents::ranges() {
    const RangeTable& range = tables_.range;
    for (Row row = 0; row < range.rows; ++row) {
        open(host_head(range, row, "user_annotation"));
        number("External id", range.external_id, row);
        if (std::string_view domain = text_of(range.domain, row); !domain.empty() && domain != "user_annotation")
            json_.member("domain", domain);
        number("op_id", range.op_id, row);
        number("Sequence number", range.sequence, row);
        json_text("Input Dims", range.input_dims, row);
        text("input_op_ids", range.input_ops, row);
        collective_args(host_collectives_, range.external_id, row);
        close();
    }
}

void ChromeEvents::python_calls() {
    const PythonCallTable& call = tables_.python_call;
    for (Row row = 0; row < call.rows; ++row) {
        open(host_head(call, row, "python_function"));
        number("Python id", call.python_id, row);
        number("Python parent id", call.python_parent_id, row);
        close();
    }
}

void ChromeEvents::overheads() {
    const OverheadTable& overhead = tables_.overhead;
    for (Row row = 0; row < overhead.rows; ++row) {
        open(host_head(overhead, row, "overhead"));
        close();
    }
}

void ChromeEvents::host_calls() {
    const ApiCallTable& call = tables_.api_call;
    for (Row row = 0; row < call.rows; ++row) {
        std::string_view api = text_of(call.api, row);
        std::string_view category = api == "driver" ? "cuda_driver" : "cuda_runtime";
        if (api == "hip") category = "hip_runtime";
        if (api == "xpu") category = "xpu_runtime";
        open(host_head(call, row, category));
        number("External id", call.external_id, row);
        number("correlation", call.correlation, row);
        text("kernel", call.kernel, row);
        close();
    }
}

void ChromeEvents::memory_events() {
    const MemoryEventTable& memory = tables_.memory_event;
    for (Row row = 0; row < memory.rows; ++row) {
        HostId id = host(memory.thread, row);
        if (!memory.time.has(row)) continue;
        open({"i", "cpu_instant_event", "[memory]", id.pid, id.tid, memory.time[row]});
        number("Total Reserved", memory.total_reserved, row);
        number("Total Allocated", memory.total_allocated, row);
        number("Bytes", memory.bytes, row);
        json_.member("Device Id", std::int64_t{memory.device.value_or(row, -1)});
        number("Device Type", memory.device_type, row);
        if (memory.address.has(row)) {
            json_.key("Addr");
            json_.raw(std::to_string(static_cast<std::uint64_t>(memory.address[row])));
        }
        close();
    }
}

void ChromeEvents::flow_end(std::string_view phase, std::string_view category, std::int64_t id, std::int64_t pid,
                            std::int64_t tid, TimeNs at) {
    json_.begin_object();
    json_.member("ph", phase);
    json_.member("id", id);
    json_.member("pid", pid);
    json_.member("tid", tid);
    time("ts", at - base_);
    json_.member("cat", category);
    json_.member("name", category);
    if (phase == "f") json_.member("bp", "e");
    json_.end_object();
}

void ChromeEvents::flows() {
    const FlowTable& flow = tables_.flow;
    for (Row row = 0; row < flow.rows; ++row) {
        if (!flow.from_time.has(row) || !flow.to_time.has(row)) continue;
        HostId from = host(flow.from_thread, row), to = host(flow.to_thread, row);
        std::string_view kind = text_of(flow.kind, row, "flow");
        flow_end("s", kind, row + 1, from.pid, from.tid, flow.from_time[row]);
        flow_end("f", kind, row + 1, to.pid, to.tid, flow.to_time[row]);
    }
}

}  // namespace gpuprof::exporters
