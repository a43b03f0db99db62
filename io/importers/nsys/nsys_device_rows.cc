// Part of the nsys importer: device activity.
#include <fmt/format.h>

#include "core/model/cuda_memory.h"
#include "core/model/graph_node_kinds.h"
#include "io/importers/nsys/nsys_reader.h"
#include "io/importers/row_values.h"
#include "io/importers/spool/cupti_names.h"

namespace gpuprof::inline importers::nsys {
namespace {

// Source: ENUM_CUDA_MEM_KIND. "Unknown" is the first number in CUPTI, the last one here.
std::string_view memory_kind(std::int64_t kind) {
    return kind >= 0 && kind < 7 ? cuda::memory_kind(kind + 1) : "unknown";
}

// Source: ENUM_CUDA_MEMCPY_OPER. Unified memory's migrations follow CUPTI's kinds.
constexpr std::string_view kMigrations[] = {"HtoD", "DtoH", "DtoD"};
bool is_migration(std::int64_t kind) { return kind >= 11 && kind < 14; }
// Source: ENUM_CUDA_UNIF_MEM_MIGRATION; 0 is unknown.
constexpr std::string_view kMigrationCauses[] = {"", "user", "fault", "prefetch", "eviction", "access counters"};
std::string_view copy_kind(std::int64_t kind) {
    return is_migration(kind) ? kMigrations[kind - 11] : cuda::copy_kind(kind);
}

}  // namespace

struct Reader::DeviceColumns {
    explicit DeviceColumns(Scan& rows)
        : start(rows.column("start")),
          end(rows.column("end")),
          device(rows.column("deviceId")),
          context(rows.column("contextId")),
          stream(rows.column("streamId")),
          correlation(rows.column("correlationId")),
          process(rows.column("globalPid")) {}
    Scan::Field start, end, device, context, stream, correlation, process;
};

template <class Table>
std::optional<Row> Reader::device_row(Table& table, Scan& rows, const DeviceColumns& columns) {
    auto added = span_row(table, rows, columns.start, columns.end);
    if (!added) return std::nullopt;
    Row row = *added;
    auto global = rows.integer(columns.process);
    // Schemas before 3 have no process here: it is that of the calls, if they have only one.
    StringId only = processes_.size() == 1 ? processes_.begin()->second : kNoString;
    StringId owner = global ? process(*global) : only;
    set_known(table.process, row, owner);
    if (auto ordinal = rows.narrow(columns.device))
        table.device.set(row, device(global ? pid_of(*global) : -1, *ordinal));
    set_known(table.context, row, rows.narrow(columns.context));
    constexpr std::int64_t kNoStream = 0xFFFFFFFF;
    if (auto stream = rows.integer(columns.stream); stream && *stream != kNoStream) table.stream.set(row, *stream);
    set_id(table.correlation, row, rows.integer(columns.correlation));
    return row;
}

void Reader::read_kernels() {
    KernelTable& table = batch_.tables.kernel;
    Scan rows = scan("CUPTI_ACTIVITY_KIND_KERNEL");
    DeviceColumns columns(rows);
    auto name = rows.column("demangledName"), short_name = rows.column("shortName"),
         fixed = rows.column("staticSharedMemory"), dynamic = rows.column("dynamicSharedMemory"),
         graph = rows.column("graphId"), node = rows.column("graphNodeId"), local = rows.column("localMemoryPerThread");
    // Here, a kernel without clusters has clusters of 0 blocks.
    const std::pair<Scan::Field, Column<std::int32_t>*> cluster[] = {{rows.column("clusterX"), &table.cluster_x},
                                                                     {rows.column("clusterY"), &table.cluster_y},
                                                                     {rows.column("clusterZ"), &table.cluster_z}};
    const std::pair<Scan::Field, Column<std::int32_t>*> shape[] = {
        {rows.column("registersPerThread"), &table.registers},
        {rows.column("gridX"), &table.grid_x},
        {rows.column("gridY"), &table.grid_y},
        {rows.column("gridZ"), &table.grid_z},
        {rows.column("blockX"), &table.block_x},
        {rows.column("blockY"), &table.block_y},
        {rows.column("blockZ"), &table.block_z}};
    while (rows.next()) {
        auto row = device_row(table, rows, columns);
        if (!row) continue;
        StringId known = string(rows.integer(name));
        if (known == kNoString) known = string(rows.integer(short_name));
        set_known(table.name, *row, known);
        for (auto [field, column] : shape)
            if (auto value = rows.narrow(field)) column->set(*row, *value);
        for (auto [field, column] : cluster)
            if (auto value = rows.narrow(field); value && *value > 0) column->set(*row, *value);
        set_count(table.local_bytes, *row, rows.integer(local));
        auto in_program = rows.narrow(fixed), at_launch = rows.narrow(dynamic);
        if (in_program || at_launch)
            table.shared_bytes.set(*row, std::int64_t{in_program.value_or(0)} + at_launch.value_or(0));
        set_id(table.graph_id, *row, rows.integer(graph));
        set_id(table.graph_node_id, *row, rows.integer(node));
    }
}

// At graph level, only the whole launch of a graph is known: one row that spans it.
void Reader::read_graphs() {
    KernelTable& table = batch_.tables.kernel;
    Scan rows = scan("CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
    DeviceColumns columns(rows);
    auto graph = rows.column("graphId");
    std::uint64_t whole = 0;
    while (rows.next()) {
        auto row = device_row(table, rows, columns);
        if (!row) continue;
        auto id = rows.integer(graph);
        set_known(table.graph_id, *row, id);
        table.name.set(*row, batch_.intern(id ? fmt::format("CUDA graph {}", *id) : "CUDA graph"));
        ++whole;
    }
    if (whole > 0) batch_.lose(Loss::whole_graph, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", whole);
}

void Reader::read_copies() {
    MemcpyTable& table = batch_.tables.memcpy;
    Scan rows = scan("CUPTI_ACTIVITY_KIND_MEMCPY");
    DeviceColumns columns(rows);
    auto kind = rows.column("copyKind"), from = rows.column("srcKind"), to = rows.column("dstKind"),
         bytes = rows.column("bytes"), node = rows.column("graphNodeId"), cause = rows.column("migrationCause");
    while (rows.next()) {
        auto row = device_row(table, rows, columns);
        if (!row) continue;
        set_text(batch_, table.kind, *row, copy_kind(rows.integer(kind).value_or(0)));
        bool managed = is_migration(rows.integer(kind).value_or(0));  // of managed memory, wherever it was
        if (auto value = rows.integer(from); value || managed)
            table.src.set(*row, batch_.intern(managed ? "managed" : memory_kind(*value)));
        if (auto value = rows.integer(to); value || managed)
            table.dst.set(*row, batch_.intern(managed ? "managed" : memory_kind(*value)));
        std::int64_t why = managed ? rows.integer(cause).value_or(0) : 0;
        if (why > 0 && why < static_cast<std::int64_t>(std::size(kMigrationCauses)))
            table.migration.set(*row, batch_.intern(kMigrationCauses[why]));
        set_known(table.bytes, *row, rows.integer(bytes));
        set_id(table.graph_node_id, *row, rows.integer(node));
    }
}

// Creation of graph nodes, captured or copied.
void Reader::read_graph_nodes() {
    GraphNodeTable& table = batch_.tables.graph_node;
    Scan rows = scan("CUDA_GRAPH_NODE_EVENTS");
    auto start = rows.column("start"), thread = rows.column("globalTid"), node = rows.column("graphNodeId"),
         original = rows.column("originalGraphNodeId");
    while (rows.next()) {
        auto at = times(rows, start, start);
        auto id = rows.integer(node), from = rows.integer(original), global = rows.integer(thread);
        if (!at || !id) continue;
        Row row = table.add();
        table.time.set(row, at->first);
        table.graph_node_id.set(row, *id);
        if (global) {
            Host caller = host(*global);
            table.process.set(row, caller.process);
            table.thread.set(row, caller.thread);
        }
        bool copied = from.value_or(0) != 0;
        table.action.set(row, batch_.intern(copied ? graph_action::kCloned : graph_action::kCreated));
        if (copied) table.original.set(row, *from);
    }
}

// Faults on a device and on the host are two tables.
void Reader::read_page_faults() {
    constexpr std::string_view kAccesses[] = {"", "read", "write", "atomic",
                                              "prefetch"};  // ENUM_CUDA_UNIF_MEM_ACCESS_TYPE
    PageFaultTable& table = batch_.tables.page_fault;
    for (const char* name : {"CUDA_UM_GPU_PAGE_FAULT_EVENTS", "CUDA_UM_CPU_PAGE_FAULT_EVENTS"}) {
        Scan rows = scan(name);
        auto start = rows.column("start"), end = rows.column("end"), owner = rows.column("globalPid"),
             device_id = rows.column("deviceId"), faults = rows.column("numberOfPageFaults"),
             access = rows.column("faultAccessType"), symbol = rows.column("CpuInstruction"),
             module = rows.column("module"), file = rows.column("sourceFile"), line = rows.column("sourceLine");
        while (rows.next()) {
            auto row = span_row(table, rows, start, end);
            if (!row) continue;
            auto global = rows.integer(owner);
            if (global) table.process.set(*row, process(*global));
            if (auto ordinal = rows.narrow(device_id))
                table.device.set(*row, device(global ? pid_of(*global) : -1, *ordinal));
            table.faults.set(*row, rows.integer(faults).value_or(1));
            auto what = rows.integer(access).value_or(0);
            if (what > 0 && what < std::ssize(kAccesses)) table.access.set(*row, batch_.intern(kAccesses[what]));
            auto function = rows.integer(symbol);
            if (text(function).empty()) continue;
            std::string_view source = text(rows.integer(file));
            table.place.set(
                *row, frame(function, source.empty() ? std::string(text(rows.integer(module)))
                                                     : fmt::format("{}:{}", source, rows.integer(line).value_or(0))));
        }
    }
}

void Reader::read_fills() {
    MemsetTable& table = batch_.tables.memset;
    Scan rows = scan("CUPTI_ACTIVITY_KIND_MEMSET");
    DeviceColumns columns(rows);
    auto kind = rows.column("memKind"), bytes = rows.column("bytes"), node = rows.column("graphNodeId");
    while (rows.next()) {
        auto row = device_row(table, rows, columns);
        if (!row) continue;
        if (auto value = rows.integer(kind)) table.kind.set(*row, batch_.intern(memory_kind(*value)));
        set_known(table.bytes, *row, rows.integer(bytes));
        set_id(table.graph_node_id, *row, rows.integer(node));
    }
}

// A wait for an event refers to the event's record by eventSyncId, within its process.
void Reader::read_syncs() {
    struct Recorded {
        std::optional<std::int64_t> stream, correlation;
    };
    std::map<std::pair<std::int64_t, std::int64_t>, Recorded> recorded;
    Scan events = scan("CUPTI_ACTIVITY_KIND_CUDA_EVENT");
    auto owner = events.column("globalPid"), event = events.column("eventSyncId"),
         of_stream = events.column("streamId"), call = events.column("correlationId");
    while (events.next())
        if (auto pid = events.integer(owner), id = events.integer(event); pid && id)
            recorded[{*pid, *id}] = {events.integer(of_stream), events.integer(call)};

    SyncTable& table = batch_.tables.sync;
    Scan rows = scan("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
    DeviceColumns columns(rows);
    auto type = rows.column("syncType"), older = rows.column("deprecatedSyncType"), wait = rows.column("eventSyncId");
    while (rows.next()) {
        auto row = device_row(table, rows, columns);
        if (!row) continue;
        auto value = rows.integer(type);
        if (!value) value = rows.integer(older);
        set_text(batch_, table.kind, *row, cuda::sync_kind(value.value_or(0)));
        auto pid = rows.integer(columns.process), id = rows.integer(wait);
        auto known = pid && id ? recorded.find({*pid, *id}) : recorded.end();
        if (known == recorded.end()) continue;
        if (known->second.stream) table.wait_on_stream.set(*row, *known->second.stream);
        if (known->second.correlation) table.wait_on_correlation.set(*row, *known->second.correlation);
    }
}

void Reader::read_allocations() {
    constexpr std::int64_t kDevice = 2, kManaged = 4, kRelease = 1;
    constexpr std::int32_t kCuda = 1;
    MemoryEventTable& table = batch_.tables.memory_event;
    Scan rows = scan("CUDA_GPU_MEMORY_USAGE_EVENTS");
    auto start = rows.column("start"), owner = rows.column("globalPid"), device_id = rows.column("deviceId"),
         address = rows.column("address"), bytes = rows.column("bytes"), kind = rows.column("memKind"),
         operation = rows.column("memoryOperationType");
    while (rows.next()) {
        auto of = rows.integer(kind);
        if (of && *of != kDevice && *of != kManaged) continue;
        auto at = times(rows, start, start);
        auto size = rows.integer(bytes);
        if (!at || !size) continue;
        Row row = table.add();
        table.time.set(row, at->first);
        table.device_type.set(row, kCuda);
        auto global = rows.integer(owner);
        if (auto ordinal = rows.narrow(device_id))
            table.device.set(row, device(global ? pid_of(*global) : -1, *ordinal));
        set_known(table.address, row, rows.integer(address));
        table.bytes.set(row, rows.integer(operation).value_or(0) == kRelease ? -*size : *size);
        table.category.set(row, batch_.intern(of == kManaged ? kManagedMemory : kDeviceMemory));
    }
}

}  // namespace gpuprof::importers::nsys
