// Part of the rocpd importer: kernels with their counters, copies, and allocations of device memory.
#include <fmt/format.h>

#include <algorithm>

#include "core/model/cuda_memory.h"
#include "io/importers/rocpd/rocpd_reader.h"
#include "io/importers/row_ids.h"

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
    if (StringId owner = place(rows.integer(columns.process), {}).process; owner != kNoString)
        table.process.set(*row, owner);
    if (auto stream = rows.integer(columns.stream)) table.stream.set(*row, *stream);
    set_id(table.correlation, *row, event(rows.integer(columns.event)).stack);
    set_id(table.graph_id, *row, rows.integer(columns.graph));
    set_id(table.graph_node_id, *row, rows.integer(columns.node));
    return row;
}

// Grids are in work-items.
void Reader::read_kernels() {
    KernelTable& table = batch_.tables.kernel;
    Scan rows = scan("kernel_dispatch");
    DeviceColumns columns(rows);
    auto agent = rows.column("agent_id"), symbol = rows.column("kernel_id"),
         local = rows.column("private_segment_size"), shared = rows.column("group_segment_size");
    struct Dimension {
        Scan::Field items, block;
        Column<std::int32_t>*grid, *threads;
    };
    const Dimension dimensions[] = {
        {rows.column("grid_size_x"), rows.column("workgroup_size_x"), &table.grid_x, &table.block_x},
        {rows.column("grid_size_y"), rows.column("workgroup_size_y"), &table.grid_y, &table.block_y},
        {rows.column("grid_size_z"), rows.column("workgroup_size_z"), &table.grid_z, &table.block_z}};
    ProfiledKernelTable& profiled = batch_.tables.profiled_kernel;
    while (rows.next()) {
        auto row = device_row(table, rows, columns);
        if (!row) continue;
        auto gpu = device(rows.integer(agent));
        if (gpu) table.device.set(*row, *gpu);
        auto of = symbols_.find(rows.integer(symbol).value_or(-1));
        StringId name = of == symbols_.end() ? kNoString : of->second.name;
        if (name != kNoString) table.name.set(*row, name);
        if (of != symbols_.end() && of->second.registers) table.registers.set(*row, *of->second.registers);
        if (auto bytes = rows.integer(local); bytes && *bytes >= 0) table.local_bytes.set(*row, *bytes);
        auto bytes = rows.integer(shared);
        if (bytes && *bytes >= 0) table.shared_bytes.set(*row, *bytes);
        std::optional<std::int32_t> grid[3], block[3];
        for (int i = 0; i < 3; ++i) {
            auto items = rows.integer(dimensions[i].items), threads = rows.integer(dimensions[i].block);
            if (!items || !threads || *items <= 0 || *threads <= 0 || *items > INT32_MAX || *threads > INT32_MAX)
                continue;
            grid[i] = static_cast<std::int32_t>((*items + *threads - 1) / *threads);
            block[i] = static_cast<std::int32_t>(*threads);
            dimensions[i].grid->set(*row, *grid[i]);
            dimensions[i].threads->set(*row, *block[i]);
        }
        auto id = rows.integer(columns.event);
        auto values = id ? values_.find(*id) : values_.end();
        if (values == values_.end()) continue;
        Row at = profiled.add();
        if (StringId owner = place(rows.integer(columns.process), {}).process; owner != kNoString)
            profiled.process.set(at, owner);
        if (gpu) profiled.device.set(at, *gpu);
        if (auto stream = rows.integer(columns.stream)) profiled.stream.set(at, *stream);
        if (name != kNoString) profiled.name.set(at, name);
        Column<std::int32_t>* const shape[] = {&profiled.grid_x,  &profiled.grid_y,  &profiled.grid_z,
                                               &profiled.block_x, &profiled.block_y, &profiled.block_z};
        for (int i = 0; i < 3; ++i) {
            if (grid[i]) shape[i]->set(at, *grid[i]);
            if (block[i]) shape[3 + i]->set(at, *block[i]);
        }
        if (auto times = times_of(rows, columns.start, columns.end, batch_))
            profiled.dur.set(at, span_between(times->first, times->second));
        profiled.kind.set(at, batch_.intern("kernel"));
        profiled.tool.set(at, batch_.intern("rocprofv3"));
        if (of != symbols_.end() && of->second.registers) profiled.registers.set(at, *of->second.registers);
        if (bytes && *bytes >= 0) profiled.shared_bytes.set(at, *bytes);
        set_id(profiled.correlation, at, event(id).stack);
        write_counters(at, values->second);
    }
}

void Reader::write_counters(Row kernel, const Values& values) {
    std::int64_t launch = static_cast<std::int64_t>(kernel) + 1;
    batch_.tables.profiled_kernel.launch.set(kernel, launch);
    KernelCounterTable& table = batch_.tables.kernel_counter;
    for (auto [id, value] : values) {
        auto counter = counters_.find(id);
        if (counter == counters_.end()) continue;
        Row row = table.add();
        table.launch.set(row, launch);
        table.metric.set(row, counter->second.name);
        if (counter->second.unit != kNoString) table.unit.set(row, counter->second.unit);
        table.value.set(row, value);
    }
}

void Reader::read_copies() {
    MemcpyTable& table = batch_.tables.memcpy;
    Scan rows = scan("memory_copy");
    DeviceColumns columns(rows);
    auto to = rows.column("dst_agent_id"), from = rows.column("src_agent_id"), size = rows.column("size");
    StringId host = batch_.intern("host"), on_device = batch_.intern("device");
    while (rows.next()) {
        auto row = device_row(table, rows, columns);
        if (!row) continue;
        ++copies_;
        auto source = rows.integer(from), target = rows.integer(to);
        bool reads = is_gpu(source), writes = is_gpu(target);
        if (auto gpu = device(writes && !reads ? target : source)) table.device.set(*row, *gpu);
        std::string_view kind = !reads && !writes ? "HtoH" : !reads ? "HtoD" : !writes ? "DtoH" : "DtoD";
        if (reads && writes && source != target) kind = "PtoP";
        if (source && target) {
            table.kind.set(*row, batch_.intern(kind));
            table.src.set(*row, reads ? on_device : host);
            table.dst.set(*row, writes ? on_device : host);
        }
        if (auto bytes = rows.integer(size); bytes && *bytes >= 0) table.bytes.set(*row, *bytes);
    }
}

// A release names neither its device nor its size: both are those of the allocation at its address.
void Reader::read_allocations() {
    constexpr std::int32_t kHostMemory = 0, kDeviceMemoryType = 1;
    struct Allocation {
        TimeNs time;
        bool release;
        std::int64_t address, bytes;
        std::optional<std::int32_t> device;
        StringId thread;
    };
    std::vector<Allocation> all;
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
    std::stable_sort(all.begin(), all.end(), [](const Allocation& a, const Allocation& b) { return a.time < b.time; });
    std::unordered_map<std::int64_t, const Allocation*> live;
    MemoryEventTable& table = batch_.tables.memory_event;
    for (const Allocation& each : all) {
        const Allocation* origin = &each;
        if (each.release) {
            auto known = live.find(each.address);
            if (known == live.end()) {
                batch_.lose(Loss::missing_field, "releases of memory that was allocated before the recording");
                continue;
            }
            origin = known->second;
            live.erase(known);
        } else {
            live[each.address] = &each;
        }
        Row row = table.add();
        table.time.set(row, each.time);
        if (each.thread != kNoString) table.thread.set(row, each.thread);
        table.device_type.set(row, origin->device ? kDeviceMemoryType : kHostMemory);
        if (origin->device) table.device.set(row, *origin->device);
        table.address.set(row, each.address);
        table.bytes.set(row, each.release ? -origin->bytes : origin->bytes);
        if (origin->device) table.category.set(row, batch_.intern(kDeviceMemory));
    }
}

}  // namespace gpuprof::importers::rocpd
