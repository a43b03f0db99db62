// Part of the rocpd importer: kernels with their counters, copies, and allocations of device memory.
#include <fmt/format.h>

#include "io/importers/amd_rows.h"
#include "io/importers/rocpd/rocpd_reader.h"
#include "io/importers/row_values.h"

namespace gpuprof::inline importers::rocpd {

struct Reader::DeviceColumns {
    explicit DeviceColumns(Scan& rows)
        : start(rows.column("start")),
          end(rows.column("end")),
          process(rows.column("pid")),
          stream(rows.column("stream_id")),
          event(rows.column("event_id")),
          graph(rows.column("graph_exec_id")),
          node(rows.column("graph_node_id")) {}
    Scan::Field start, end, process, stream, event, graph, node;
};

// The call that submitted work shares its stack_id; correlation_id is the program's own.
template <class Table>
std::optional<Row> Reader::device_row(Table& table, Scan& rows, const DeviceColumns& columns) {
    auto row = span_row(table, rows, columns.start, columns.end, batch_);
    if (!row) return row;
    DeviceWork work;
    work.process = place(rows.integer(columns.process), {}).process;
    work.stream = rows.integer(columns.stream);
    work.correlation = event(rows.integer(columns.event)).stack;
    work.graph = rows.integer(columns.graph);
    work.graph_node = rows.integer(columns.node);
    set_work(table, *row, work);
    return row;
}

// Grids are in work-items.
void Reader::read_kernels() {
    KernelTable& table = batch_.tables.kernel;
    Scan rows = scan("kernel_dispatch");
    DeviceColumns columns(rows);
    auto agent = rows.column("agent_id"), symbol = rows.column("kernel_id"),
         local = rows.column("private_segment_size"), shared = rows.column("group_segment_size");
    const std::pair<Scan::Field, Scan::Field> dimensions[] = {
        {rows.column("grid_size_x"), rows.column("workgroup_size_x")},
        {rows.column("grid_size_y"), rows.column("workgroup_size_y")},
        {rows.column("grid_size_z"), rows.column("workgroup_size_z")}};
    while (rows.next()) {
        auto row = device_row(table, rows, columns);
        if (!row) continue;
        auto gpu = device(rows.integer(agent));
        set_known(table.device, *row, gpu);
        auto of = symbols_.find(rows.integer(symbol).value_or(-1));
        StringId name = of == symbols_.end() ? kNoString : of->second.name;
        set_known(table.name, *row, name);
        if (of != symbols_.end() && of->second.registers) table.registers.set(*row, *of->second.registers);
        set_count(table.local_bytes, *row, rows.integer(local));
        auto bytes = rows.integer(shared);
        if (bytes && *bytes >= 0) table.shared_bytes.set(*row, *bytes);
        amd::Extent extents[3];
        for (int i = 0; i < 3; ++i)
            extents[i] = {rows.integer(dimensions[i].first), rows.integer(dimensions[i].second)};
        amd::put_shape(table, *row, extents);
        auto id = rows.integer(columns.event);
        auto values = id ? values_.find(*id) : values_.end();
        if (values == values_.end()) continue;
        std::optional<DurNs> dur;
        if (auto times = times_of(rows, columns.start, columns.end, batch_))
            dur = span_between(times->first, times->second);
        std::int64_t launch = amd::add_profiled_kernel(batch_, *row, dur);
        for (auto [which, value] : values->second)
            if (auto counter = counters_.find(which); counter != counters_.end())
                amd::add_counter(batch_, launch, counter->second.name, counter->second.unit, value);
    }
}

void Reader::read_copies() {
    MemcpyTable& table = batch_.tables.memcpy;
    Scan rows = scan("memory_copy");
    DeviceColumns columns(rows);
    auto to = rows.column("dst_agent_id"), from = rows.column("src_agent_id"), size = rows.column("size");
    while (rows.next()) {
        auto row = device_row(table, rows, columns);
        if (!row) continue;
        ++copies_;
        auto source = rows.integer(from), target = rows.integer(to);
        bool reads = is_gpu(source), writes = is_gpu(target);
        set_known(table.device, *row, device(writes && !reads ? target : source));
        if (source && target) amd::put_copy_ends(batch_, *row, reads, writes, reads && writes && source != target);
        set_count(table.bytes, *row, rows.integer(size));
    }
}

void Reader::read_allocations() {
    std::vector<amd::Allocation> all;
    Scan rows = scan("memory_allocate");
    auto start = rows.column("start"), process = rows.column("pid"), thread = rows.column("tid"),
         agent = rows.column("agent_id"), type = rows.column("type"), level = rows.column("level"),
         address = rows.column("address"), size = rows.column("size");
    while (rows.next()) {
        if (rows.text(level) == "SCRATCH") continue;
        bool release = rows.text(type) == "FREE", allocation = rows.text(type) == "ALLOC";
        auto at = times_of(rows, start, start, batch_);
        auto place_of = rows.integer(address);
        if (!at) continue;
        if ((!release && !allocation) || !place_of) {
            batch_.lose_named(Loss::unread_table, "", "memory_allocate without address");
            continue;
        }
        all.push_back({at->first, release, *place_of, rows.integer(size).value_or(0), device(rows.integer(agent)),
                       place(rows.integer(process), rows.integer(thread)).thread});
    }
    amd::write_allocations(batch_, std::move(all));
}

}  // namespace gpuprof::importers::rocpd
