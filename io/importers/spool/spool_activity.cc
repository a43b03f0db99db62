// The device side of a spool: CUPTI's activity records, field by field, into kernels, copies, fills, calls, devices.
#include <fmt/format.h>

#include <map>

#include "core/format/bytes.h"
#include "core/model/build/submission.h"
#include "core/model/cuda_memory.h"
#include "core/schema/meta_keys.h"
#include "io/importers/spool/cupti_names.h"
#include "io/importers/spool/spool_import.h"

namespace gpuprof::inline importers {
namespace {

using cupti::Kind;
using spool::NameSpace;

std::string_view overhead_name(std::uint32_t kind) {
    switch (kind) {
        case 1: return "driver compiler";
        case 1u << 16: return "CUPTI buffer flush";
        case 2u << 16: return "CUPTI instrumentation";
        case 3u << 16: return "CUPTI resource";
        case 4u << 16: return "module loading";
        case 5u << 16: return "lazy function loading";
        case 6u << 16: return "command buffer full";
        case 7u << 16: return "activity buffer request";
        case 8u << 16: return "unified memory activity init";
        default: return "unknown";
    }
}

// A row with a start and an end time from the record.
template <class Table>
Row add_span(Table& table, const cupti::Record& record, cupti::Field<std::uint64_t> from,
             cupti::Field<std::uint64_t> to) {
    auto start = static_cast<TimeNs>(record.get(from)), end = static_cast<TimeNs>(record.get(to));
    Row row = table.add();
    table.start.set(row, start);
    table.dur.set(row, span_between(start, end));
    return row;
}

constexpr cupti::Field<std::uint32_t> kNoField{~std::uint32_t{0}};  // of a record that has no such field

// The columns that all device work shares.
template <class Table, class Fields>
Row add_device_op(Table& table, const cupti::Record& record, const Fields& fields, StringId process) {
    Row row = add_span(table, record, fields.start, fields.end);
    table.process.set(row, process);
    table.device.set(row, static_cast<std::int32_t>(record.get(fields.device)));
    table.context.set(row, static_cast<std::int32_t>(record.get(fields.context)));
    if (fields.stream.offset != kNoField.offset) table.stream.set(row, record.get(fields.stream));
    // What a graph that the device launched does has no call.
    if (std::uint32_t call = record.get(fields.correlation); call != 0 || record.get(fields.graph) == 0)
        table.correlation.set(row, call);
    if (std::uint32_t graph = record.get(fields.graph); graph != 0) table.graph_id.set(row, graph);
    if (std::uint64_t node = record.get(fields.graph_node); node != 0)
        table.graph_node_id.set(row, static_cast<std::int64_t>(node));
    return row;
}

struct OpFields {
    cupti::Field<std::uint64_t> start, end, graph_node;
    cupti::Field<std::uint32_t> device, context, stream, correlation, graph;
};
namespace k = cupti::kernel;
namespace c = cupti::memcpy;
namespace p = cupti::memcpy_p2p;
namespace s = cupti::memset;
namespace g = cupti::graph_trace;
namespace dg = cupti::device_graph_trace;
constexpr OpFields kKernelFields{k::start,   k::end,    k::graph_node,  k::device,
                                 k::context, k::stream, k::correlation, k::graph};
constexpr OpFields kMemcpyFields{c::start,   c::end,    c::graph_node,  c::device,
                                 c::context, c::stream, c::correlation, c::graph};
constexpr OpFields kPeerFields{p::start,   p::end,    p::graph_node,  p::device,
                               p::context, p::stream, p::correlation, p::graph};
constexpr OpFields kMemsetFields{s::start,   s::end,    s::graph_node,  s::device,
                                 s::context, s::stream, s::correlation, s::graph};
constexpr OpFields kGraphFields{g::start,   g::end,    cupti::kNowhere, g::device,
                                g::context, g::stream, g::correlation,  g::graph};
constexpr OpFields kDeviceGraphFields{dg::start,   dg::end,  cupti::kNowhere, dg::device,
                                      dg::context, kNoField, kNoField,        dg::graph};

}  // namespace

bool SpoolDecoder::take_activity(std::string_view payload) {
    ByteCursor cursor(payload);
    std::map<std::uint32_t, std::uint32_t> lengths;
    std::uint32_t kinds = cursor.u32();
    for (std::uint32_t i = 0; i < kinds && cursor.ok(); ++i) {
        std::uint32_t kind = cursor.u32();
        lengths[kind] = cursor.u32();
    }
    while (cursor.ok() && cursor.left() >= sizeof(std::uint32_t)) {
        std::string_view rest = payload.substr(payload.size() - cursor.left());
        auto length = lengths.find(load_u32(rest.data()));
        if (length == lengths.end() || length->second < 8) return false;
        cupti::Record record(cursor.take(length->second));
        if (!cursor.ok()) return false;
        switch (record.kind()) {
            case Kind::kernel: batch_.lose(Loss::serialized_kernels, "warps were sampled"); [[fallthrough]];
            case Kind::concurrent_kernel: add_kernel(record); break;
            case Kind::memcpy: add_memcpy(record); break;
            case Kind::memcpy_p2p: add_memcpy_p2p(record); break;
            case Kind::memset: add_memset(record); break;
            case Kind::runtime: add_api(record, NameSpace::runtime_api, "runtime"); break;
            case Kind::driver: add_api(record, NameSpace::driver_api, "driver"); break;
            case Kind::overhead: add_overhead(record); break;
            case Kind::device: add_device(record); break;
            case Kind::external_correlation:
                external_[record.get(cupti::external_correlation::correlation)] =
                    static_cast<std::int64_t>(record.get(cupti::external_correlation::id));
                break;
            case Kind::synchronization: add_sync(record); break;
            case Kind::memory2: add_memory(record); break;
            case Kind::jit: add_jit(record); break;
            case Kind::graph_trace: add_graph(record, false); break;
            case Kind::device_graph_trace: add_graph(record, true); break;
            case Kind::graph_host_node: add_host_function(record, true); break;
            case Kind::host_launch: add_host_function(record, false); break;
            default: break;  // recorded for other clients; no table holds it
        }
    }
    return cursor.ok();
}

// Whether a record has times. CUPTI leaves both at 0 if it could not take them, and the end at 0 if the work was still
// running when its buffer was requested. Such records are counted and dropped, so that no sum includes them.
bool SpoolDecoder::has_times(const cupti::Record& record, cupti::Field<std::uint64_t> start,
                             cupti::Field<std::uint64_t> end, const char* kind) {
    // A time beyond signed 64 bits is invalid too: no clock has reached it.
    auto is_time = [&](cupti::Field<std::uint64_t> field) { return static_cast<TimeNs>(record.get(field)) > 0; };
    if (!is_time(start))
        batch_.lose(Loss::untimed_op, file_);
    else if (!is_time(end))
        batch_.lose(Loss::unfinished_op, file_);
    bool both = is_time(start) && is_time(end);
    if (!both && kind != nullptr) ++left_out_[kind];
    return both;
}

void SpoolDecoder::add_kernel(const cupti::Record& record) {
    if (!has_times(record, k::start, k::end, meta_key::kCountedKernels)) return;
    KernelTable& table = batch_.tables.kernel;
    Row row = add_device_op(table, record, kKernelFields, process_key_);
    seen(table.start[row]);
    if (StringId name = kernel_name(record.get(k::name)); name != kNoString) table.name.set(row, name);
    table.grid_x.set(row, record.get(k::grid_x));
    table.grid_y.set(row, record.get(k::grid_y));
    table.grid_z.set(row, record.get(k::grid_z));
    table.block_x.set(row, record.get(k::block_x));
    table.block_y.set(row, record.get(k::block_y));
    table.block_z.set(row, record.get(k::block_z));
    table.registers.set(row, record.get(k::registers));
    table.shared_bytes.set(row, std::int64_t{record.get(k::static_shared)} + record.get(k::dynamic_shared));
    table.local_bytes.set(row, record.get(k::local_per_thread));
    if (record.get(k::cluster_x) == 0) return;  // launched without clusters
    table.cluster_x.set(row, static_cast<std::int32_t>(record.get(k::cluster_x)));
    table.cluster_y.set(row, static_cast<std::int32_t>(record.get(k::cluster_y)));
    table.cluster_z.set(row, static_cast<std::int32_t>(record.get(k::cluster_z)));
}

void SpoolDecoder::add_memcpy(const cupti::Record& record) {
    if (!has_times(record, c::start, c::end, meta_key::kCountedCopies)) return;
    MemcpyTable& table = batch_.tables.memcpy;
    Row row = add_device_op(table, record, kMemcpyFields, process_key_);
    if (std::string_view kind = cuda::copy_kind(record.get(c::copy_kind)); !kind.empty())
        table.kind.set(row, batch_.intern(kind));
    table.src.set(row, batch_.intern(cuda::memory_kind(record.get(c::src))));
    table.dst.set(row, batch_.intern(cuda::memory_kind(record.get(c::dst))));
    table.bytes.set(row, static_cast<std::int64_t>(record.get(c::bytes)));
}

void SpoolDecoder::add_memcpy_p2p(const cupti::Record& record) {
    if (!has_times(record, p::start, p::end, meta_key::kCountedCopies)) return;
    MemcpyTable& table = batch_.tables.memcpy;
    Row row = add_device_op(table, record, kPeerFields, process_key_);
    table.kind.set(row, batch_.intern("PtoP"));
    table.src.set(row, batch_.intern("device"));
    table.dst.set(row, batch_.intern("device"));
    table.bytes.set(row, static_cast<std::int64_t>(record.get(p::bytes)));
}

void SpoolDecoder::add_memset(const cupti::Record& record) {
    if (!has_times(record, s::start, s::end, meta_key::kCountedCopies)) return;
    MemsetTable& table = batch_.tables.memset;
    Row row = add_device_op(table, record, kMemsetFields, process_key_);
    table.kind.set(row, batch_.intern(cuda::memory_kind(record.get(s::memory_kind))));
    table.bytes.set(row, static_cast<std::int64_t>(record.get(s::bytes)));
}

void SpoolDecoder::add_api(const cupti::Record& record, NameSpace space, std::string_view api) {
    namespace a = cupti::api;
    if (std::uint32_t thread = record.get(a::thread); thread != 0 && thread == recorder_thread_) {
        ++recorder_calls_;
        return;
    }
    if (!has_times(record, a::start, a::end, meta_key::kCountedCalls)) return;
    ApiCallTable& table = batch_.tables.api_call;
    Row row = add_span(table, record, a::start, a::end);
    seen(static_cast<TimeNs>(record.get(a::end)));
    table.thread.set(row, thread_key(record.get(a::thread)));
    table.process.set(row, process_key_);
    table.api.set(row, batch_.intern(api));
    table.name.set(row, function_name(space, record.get(a::cbid)));
    table.correlation.set(row, record.get(a::correlation));
    if (std::uint32_t error = record.get(a::error); error != 0) table.error.set(row, static_cast<std::int32_t>(error));
}

void SpoolDecoder::add_overhead(const cupti::Record& record) {
    namespace o = cupti::overhead;
    OverheadTable& table = batch_.tables.overhead;
    Row row = add_span(table, record, o::start, o::end);
    table.name.set(row, batch_.intern(overhead_name(record.get(o::what))));
    constexpr std::uint32_t kThreadObject = 2;
    if (record.get(o::object) == kThreadObject) table.thread.set(row, thread_key(record.get(o::thread)));
}

// Only if another client in the process requested it.
void SpoolDecoder::add_sync(const cupti::Record& record) {
    namespace y = cupti::synchronization;
    SyncTable& table = batch_.tables.sync;
    Row row = add_span(table, record, y::start, y::end);
    table.process.set(row, process_key_);
    table.context.set(row, static_cast<std::int32_t>(record.get(y::context)));
    constexpr std::uint32_t kNoStream = ~std::uint32_t{0};
    if (std::uint32_t stream = record.get(y::stream); stream != kNoStream) table.stream.set(row, stream);
    if (std::string_view kind = cuda::sync_kind(record.get(y::type)); !kind.empty())
        table.kind.set(row, batch_.intern(kind));
    table.correlation.set(row, record.get(y::correlation));
}

// A function of the host, launched or a node of a graph, that a stream waits for. It is no wait of the calling thread.
void SpoolDecoder::add_host_function(const cupti::Record& record, bool node) {
    namespace h = cupti::host_launch;  // both begin in the same way
    namespace n = cupti::graph_host_node;
    auto start = node ? n::start : h::start, end = node ? n::end : h::end;
    if (!has_times(record, start, end, nullptr)) return;
    SyncTable& table = batch_.tables.sync;
    Row row = add_span(table, record, start, end);
    seen(static_cast<TimeNs>(record.get(end)));
    table.process.set(row, process_key_);
    table.device.set(row, static_cast<std::int32_t>(record.get(h::device)));
    table.context.set(row, static_cast<std::int32_t>(record.get(h::context)));
    table.stream.set(row, record.get(h::stream));
    table.kind.set(row, batch_.intern(kHostFunction));
    table.thread.set(row, thread_key(record.get(node ? n::thread : h::thread)));
    table.correlation.set(row, record.get(h::correlation));
}

// Device memory only: host allocations do not belong to the device.
void SpoolDecoder::add_memory(const cupti::Record& record) {
    namespace m = cupti::memory2;
    constexpr std::uint32_t kAllocation = 1, kRelease = 2, kDevice = 3, kManaged = 5;
    std::uint32_t operation = record.get(m::operation), kind = record.get(m::memory_kind);
    if ((operation != kAllocation && operation != kRelease) || (kind != kDevice && kind != kManaged)) return;
    MemoryEventTable& table = batch_.tables.memory_event;
    Row row = table.add();
    std::uint64_t bytes = record.get(m::bytes);
    auto time = static_cast<TimeNs>(record.get(m::time));
    seen(time);
    constexpr std::int32_t kCuda = 1;
    table.time.set(row, time);
    table.device_type.set(row, kCuda);
    table.device.set(row, static_cast<std::int32_t>(record.get(m::device)));
    table.address.set(row, static_cast<std::int64_t>(record.get(m::address)));
    table.bytes.set(row, static_cast<std::int64_t>(operation == kAllocation ? bytes : 0 - bytes));
    table.category.set(row, batch_.intern(kind == kManaged ? kManagedMemory : kDeviceMemory));
    allocations_.push_back({row, record.get(m::correlation)});
}

void SpoolDecoder::add_jit(const cupti::Record& record) {
    namespace j = cupti::jit;
    constexpr std::string_view kNames[] = {"", "JIT: load a kernel from the cache", "JIT: store a kernel in the cache",
                                           "JIT: compile a kernel"};
    std::uint32_t operation = record.get(j::operation);
    OverheadTable& table = batch_.tables.overhead;
    Row row = add_span(table, record, j::start, j::end);
    table.name.set(row, batch_.intern(operation > 0 && operation < std::size(kNames) ? kNames[operation] : "JIT"));
}

// At graph level, only the whole launch of a graph is known: one row that spans it.
void SpoolDecoder::add_graph(const cupti::Record& record, bool by_device) {
    if (!has_times(record, g::start, g::end, meta_key::kCountedGraphs)) return;
    KernelTable& table = batch_.tables.kernel;
    Row row = add_device_op(table, record, by_device ? kDeviceGraphFields : kGraphFields, process_key_);
    seen(table.start[row]);
    table.name.set(row, batch_.intern(fmt::format("CUDA graph {}", record.get(by_device ? dg::graph : g::graph))));
    ++whole_graphs_;
}

void SpoolDecoder::add_device(const cupti::Record& record) {
    namespace d = cupti::device;
    DeviceTable& table = batch_.tables.device;
    Row row = table.add();
    auto number = [&](Column<std::int32_t>& column, cupti::Field<std::uint32_t> field) {
        column.set(row, static_cast<std::int32_t>(record.get(field)));
    };
    number(table.device, d::id);
    if (auto name = pointers_.find(record.get(d::name)); name != pointers_.end()) table.name.set(row, name->second);
    table.vendor.set(row, batch_.intern("nvidia"));
    table.memory_bytes.set(row, static_cast<std::int64_t>(record.get(d::memory)));
    number(table.cc_major, d::cc_major);
    number(table.cc_minor, d::cc_minor);
    number(table.sms, d::sms);
    number(table.warp_size, d::warp);
    number(table.max_threads_per_block, d::threads_per_block);
    table.max_threads_per_sm.set(row, static_cast<std::int32_t>(record.get(d::warps_per_sm) * record.get(d::warp)));
    number(table.registers_per_block, d::registers_per_block);
    number(table.registers_per_sm, d::registers_per_sm);
    table.shared_bytes_per_block.set(row, record.get(d::shared_per_block));
    table.shared_bytes_per_sm.set(row, record.get(d::shared_per_sm));
}

void SpoolDecoder::resolve_external() {
    if (external_.empty()) return;
    auto resolve = [&](auto& table, Row first) {
        table.correlation.pad(table.rows);
        for (Row row = first; row < table.rows; ++row) {
            if (!table.correlation.has(row)) continue;  // a graph that the device launched
            auto id = external_.find(static_cast<std::uint32_t>(table.correlation[row]));
            if (id != external_.end()) table.external_id.set(row, id->second);
        }
    };
    resolve(batch_.tables.kernel, first_.kernel);
    resolve(batch_.tables.memcpy, first_.memcpy);
    resolve(batch_.tables.memset, first_.memset);
    resolve(batch_.tables.api_call, first_.api_call);
}

StringId SpoolDecoder::kernel_name(std::uint64_t address) {
    auto known = pointers_.find(address);
    return known == pointers_.end() ? kNoString : known->second;
}

StringId SpoolDecoder::function_name(NameSpace space, std::uint32_t cbid) {
    auto [known, added] =
        functions_.try_emplace(std::uint64_t{cbid} << 8 | static_cast<std::uint8_t>(space), kNoString);
    if (added)
        known->second =
            batch_.intern(fmt::format("{} {}", space == NameSpace::driver_api ? "driver" : "runtime", cbid));
    return known->second;
}

}  // namespace gpuprof::importers
