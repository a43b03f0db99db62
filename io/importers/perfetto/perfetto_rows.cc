// The writers, and the tables that their categories fill. Sources: PyTorch's Cuspy (pull request 187892), rocprofiler-sdk
// (source/lib/output/generatePerfetto.cpp), rocprofiler-systems, anakryiko/wprof, Triton's Proton, io/exporters/perfetto.cc.
#include "io/importers/perfetto/perfetto_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/text/function_name.h"
#include "io/importers/row_ids.h"
#include "io/importers/spool/cupti_names.h"

namespace gpuprof::inline importers::perfetto {
namespace {

struct CategoryKind {
    Writer writer;
    std::string_view category;
    Kind kind;
};
constexpr CategoryKind kCategoryKinds[] = {
    {Writer::gpu_profile, "kernel", Kind::kernel},
    {Writer::gpu_profile, "memcpy", Kind::memcpy},
    {Writer::gpu_profile, "memset", Kind::memset},
    {Writer::gpu_profile, "api", Kind::call},
    {Writer::gpu_profile, "os", Kind::os_call},
    {Writer::gpu_profile, "op", Kind::op},
    {Writer::gpu_profile, "range", Kind::range},
    {Writer::gpu_profile, "python", Kind::python},
    {Writer::gpu_profile, "overhead", Kind::overhead},
    {Writer::gpu_profile, "range on device", Kind::device_range},
    {Writer::gpu_profile, "cpu", Kind::cpu},
    {Writer::cuspy, "cpu_op", Kind::op},
    {Writer::cuspy, "user_annotation", Kind::range},
    {Writer::cuspy, "cuda_runtime", Kind::call},
    {Writer::cuspy, "cuda_driver", Kind::call},
    {Writer::cuspy, "python_function", Kind::python},
    {Writer::rocprofv3, "kernel_dispatch", Kind::kernel},
    {Writer::rocprofv3, "memory_copy", Kind::memcpy},
    {Writer::rocprofv3, "hip_api", Kind::call},
    {Writer::rocprofv3, "hsa_api", Kind::call},
    {Writer::rocprofv3, "rccl_api", Kind::call},
    {Writer::rocprofv3, "marker_api", Kind::range},
    {Writer::rocprof_sys, "rocm_kernel_dispatch", Kind::kernel},
    {Writer::rocprof_sys, "rocm_hip_stream", Kind::kernel},
    {Writer::rocprof_sys, "rocm_memory_copy", Kind::memcpy},
    {Writer::rocprof_sys, "rocm_hip_api", Kind::call},
    {Writer::rocprof_sys, "rocm_hsa_api", Kind::call},
    {Writer::rocprof_sys, "rocm_rccl_api", Kind::call},
    {Writer::rocprof_sys, "rocm_marker_api", Kind::range},
    {Writer::wprof, "CUDA_KERNEL", Kind::kernel},
    {Writer::wprof, "CUDA_MEMCPY", Kind::memcpy},
    {Writer::wprof, "CUDA_MEMSET", Kind::memset},
    {Writer::wprof, "CUDA_SYNC", Kind::sync},
    {Writer::wprof, "CUDA_API", Kind::call},
    {Writer::wprof, "CUDA_OVERHEAD", Kind::overhead},
    {Writer::proton, "kernel", Kind::kernel},
    {Writer::proton, "scope", Kind::range},
};

// Text up to a given end, as a number: "7" of "stream 7, context 2" after "stream ".
std::optional<std::int64_t> number_after(std::string_view text, std::string_view before) {
    std::size_t at = text.find(before);
    if (at == text.npos) return std::nullopt;
    text.remove_prefix(at + before.size());
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} ? std::optional(value) : std::nullopt;
}

std::optional<std::int32_t> narrow(std::optional<std::int64_t> value) {
    return value && *value >= 0 && *value <= INT32_MAX ? std::optional(static_cast<std::int32_t>(*value))
                                                       : std::nullopt;
}

// "(x,y,z)" or "x,y,z".
int read_triple(std::string_view text, std::int64_t (&values)[3]) {
    while (text.starts_with('(') || text.starts_with(' ')) text.remove_prefix(1);
    int n = 0;
    while (n < 3) {
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), values[n]);
        if (error != std::errc{} || values[n] <= 0 || values[n] > INT32_MAX) return n;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        ++n;
        while (text.starts_with(',') || text.starts_with(' ')) text.remove_prefix(1);
    }
    return n;
}

// "HtoD" of MEMORY_COPY_HOST_TO_DEVICE; "" of other names.
std::string_view amd_copy_kind(std::string_view name) {
    constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
        {"HOST_TO_DEVICE", "HtoD"}, {"DEVICE_TO_HOST", "DtoH"}, {"DEVICE_TO_DEVICE", "DtoD"}, {"HOST_TO_HOST", "HtoH"}};
    for (auto [theirs, ours] : kKinds)
        if (name.ends_with(theirs)) return ours;
    return "";
}

constexpr std::string_view kStages[] = {"Kernel", "Memcpy", "Memset"};
constexpr std::int64_t kOverheadProcess = 0x7FFFFFFF;

}  // namespace

Writer writer_of(const PerfettoTrace& trace) {
    constexpr std::uint64_t kOurDescriptions = 0x7FFFFFFF;  // exporters/perfetto.cc
    if (trace.has_stages()) return Writer::cuspy;
    if (trace.has_sequence(kOurDescriptions)) return Writer::gpu_profile;
    for (const CategoryKind& each : kCategoryKinds) {
        bool telling = each.writer == Writer::rocprofv3 || each.writer == Writer::rocprof_sys ||
                       each.writer == Writer::wprof || each.category.starts_with("cuda_");
        if (telling && trace.has_category(each.category)) return each.writer;
    }
    for (const auto& [uuid, track] : trace.tracks())
        if (track.name.starts_with("GPU Stream ") || track.name.starts_with("CPU Thread ")) return Writer::proton;
    return Writer::unknown;
}

std::string_view name_of(Writer writer) {
    switch (writer) {
        case Writer::gpu_profile: return "gpu-profile";
        case Writer::cuspy: return "torch.profiler (Cuspy)";
        case Writer::rocprofv3: return "rocprofv3";
        case Writer::rocprof_sys: return "rocprof-sys";
        case Writer::wprof: return "wprof";
        case Writer::proton: return "Proton";
        case Writer::unknown: break;
    }
    return "Perfetto";
}

// Names of tracks are all that says which stream or device is meant.
void PerfettoRows::read_name(std::string_view name, Place& place) const {
    auto take = [](auto& to, auto value) {
        if (!to && value) to = *value;
    };
    switch (writer_) {
        case Writer::gpu_profile:
            if (name.starts_with("GPU ")) take(place.device, narrow(number_after(name, "GPU ")));
            if (name.starts_with("stream ") || name.starts_with("annotations of stream "))
                take(place.stream, number_after(name, "stream "));
            take(place.context, narrow(number_after(name, ", context ")));
            if (name.starts_with("stream ")) take(place.pid, number_after(name, ", process "));
            if (name.starts_with("CPU ") && place.host.empty()) {
                take(place.cpu, narrow(number_after(name, "CPU ")));
                if (std::size_t of = name.find(" of "); of != name.npos) place.host = name.substr(of + 4);
            }
            break;
        case Writer::rocprofv3:
        case Writer::rocprof_sys:
            take(place.stream, number_after(name, "STREAM [\" "));
            take(place.stream, number_after(name, "HIP Activity Stream "));
            place.of_gpu = place.of_gpu || place.stream || name.starts_with("COMPUTE") || name.starts_with("COPY");
            break;
        case Writer::wprof:
            if (name.starts_with("GPU #")) take(place.device, narrow(number_after(name, "GPU #")));
            if (name.starts_with("Stream #")) take(place.stream, number_after(name, "Stream #"));
            break;
        case Writer::proton:
            if (name.starts_with("GPU Stream ")) take(place.stream, number_after(name, "Stream "));
            if (name.starts_with("Graph: Stream ")) take(place.stream, number_after(name, "Stream "));
            break;
        default: break;
    }
}

const PerfettoRows::Place& PerfettoRows::place(std::uint64_t uuid) {
    auto [known, added] = known_.try_emplace(uuid);
    if (!added) return known->second;
    constexpr int kMostParents = 16;
    Place place;
    std::uint64_t at = uuid;
    for (int level = 0; level < kMostParents; ++level) {
        auto found = trace_.tracks().find(at);
        if (found == trace_.tracks().end()) break;
        const Track& track = found->second;
        read_name(track.name, place);
        bool recorder = writer_ == Writer::cuspy && track.pid == kOverheadProcess;
        bool gpu = writer_ == Writer::cuspy && track.process_name.starts_with("GPU ");
        place.of_recorder = place.of_recorder || recorder;
        place.of_gpu = place.of_gpu || gpu;
        if (gpu && !place.device) place.device = narrow(track.pid);
        if (track.pid && !place.pid) place.pid = track.pid;
        if (track.tid && place.thread == kNoString && !recorder) {
            place.process = places_.process(track.pid.value_or(0));
            place.thread = places_.thread(place.process, *track.tid, track.thread_name);
        }
        if (writer_ == Writer::proton && track.name.starts_with("CPU Thread ") && place.thread == kNoString)
            if (auto tid = number_after(track.name, "CPU Thread ")) place.thread = places_.thread(kNoString, *tid);
        if (track.parent == 0 || track.parent == at) break;
        at = track.parent;
    }
    if (place.pid && place.process == kNoString && !place.of_gpu && !place.of_recorder && writer_ != Writer::proton)
        place.process = places_.process(*place.pid);
    if (writer_ == Writer::gpu_profile && place.device) {
        auto found = trace_.tracks().find(at);
        std::string_view name = found == trace_.tracks().end() ? std::string_view() : found->second.name;
        std::size_t colon = name.find(": ");
        add_device(*place.device, colon == name.npos ? std::string_view() : name.substr(colon + 2));
    }
    // A thread without work of its own has no place: only what was found is kept.
    known->second = std::move(place);
    return known->second;
}

void PerfettoRows::add_device(std::int32_t device, std::string_view name) {
    if (!devices_.insert(device).second) return;
    DeviceTable& table = batch_.tables.device;
    Row row = table.add();
    table.device.set(row, device);
    if (!name.empty()) table.name.set(row, batch_.intern(name));
    bool amd = writer_ == Writer::rocprofv3 || writer_ == Writer::rocprof_sys;
    if (writer_ == Writer::cuspy || writer_ == Writer::wprof || amd)
        table.vendor.set(row, batch_.intern(amd ? "amd" : "nvidia"));
}

Kind PerfettoRows::kind_of(const Event& event, const Place& place) const {
    if (place.of_recorder) return Kind::overhead;
    if (writer_ == Writer::cuspy && place.of_gpu) return Kind::sync;
    for (const CategoryKind& each : kCategoryKinds) {
        if (each.writer != writer_ || each.category != event.category) continue;
        if (writer_ != Writer::rocprof_sys) return each.kind;
        // Streams have kernels and copies, and may repeat what queues show.
        if (each.category == "rocm_hip_stream" &&
            (trace_.has_category("rocm_kernel_dispatch") || trace_.has_category("rocm_memory_copy")))
            return Kind::none;
        bool copy =
            each.kind == Kind::kernel && (event.find("dst_agent") != nullptr || event.find("src_agent") != nullptr ||
                                          !amd_copy_kind(event.name).empty());
        return copy ? Kind::memcpy : each.kind;
    }
    return Kind::range;
}

void PerfettoRows::begin(const Event& event, std::uint64_t order) {
    const Place& at = place(event.track);
    Kind kind = kind_of(event, at);
    Row row = 0;
    if (writer_ == Writer::wprof && kind == Kind::call && !event.flows.empty() &&
        !seen_calls_.insert({event.flows.front(), event.time}).second)
        kind = Kind::none;
    if (writer_ == Writer::proton && kind == Kind::kernel && event.name == "<metric>") {
        batch_.lose_named(Loss::recorder_work, "", event.name);
        kind = Kind::overhead;
    }
    if (kind != Kind::none) row = write(kind, event, at);
    by_track_[event.track].push_back({event.time, order, row, kind, true});
    ++edges_;
    last_ = std::max(last_, event.time);
}

void PerfettoRows::end(std::uint64_t track, TimeNs time, std::uint64_t order) {
    by_track_[track].push_back({time, order, 0, Kind::none, false});
    ++edges_;
    last_ = std::max(last_, time);
}

Row PerfettoRows::write(Kind kind, const Event& event, const Place& at) {
    Tables& tables = batch_.tables;
    auto named = [&](auto& table) {
        Row row = span_row(table, event);
        if (at.thread != kNoString) table.thread.set(row, at.thread);
        table.name.set(row, batch_.intern(event.name));
        return row;
    };
    switch (kind) {
        case Kind::kernel: return write_kernel(event, at);
        case Kind::memcpy: return write_copy(event, at);
        case Kind::memset: return write_fill(event, at);
        case Kind::call: return write_call(event, at);
        case Kind::op: return write_op(event, at);
        case Kind::range: return write_range(event, at);
        case Kind::sync: return write_sync(event, at);
        case Kind::cpu: return write_cpu(event, at);
        case Kind::os_call: return named(tables.os_call);
        case Kind::python: return named(tables.python_call);
        case Kind::overhead: return named(tables.overhead);
        case Kind::device_range: {
            DeviceRangeTable& table = tables.device_range;
            Row row = span_row(table, event);
            if (at.device) table.device.set(row, *at.device);
            if (at.stream) table.stream.set(row, *at.stream);
            table.name.set(row, batch_.intern(event.name));
            return row;
        }
        case Kind::none: break;
    }
    return 0;
}

// Device, context, stream, process and correlation of device work: the arguments say more than the track.
template <class Table>
void PerfettoRows::put_place(Table& table, Row row, const Event& event, const Place& at) {
    std::optional<std::int32_t> device = at.device, context = at.context;
    std::optional<std::int64_t> stream = at.stream, correlation = event.number("correlation");
    StringId process = writer_ == Writer::gpu_profile && at.pid ? places_.process(*at.pid) : kNoString;
    auto first = [&](auto& to, std::initializer_list<std::string_view> keys, auto convert) {
        for (std::string_view key : keys)
            if (auto value = convert(event.number(key))) {
                to = value;
                return;
            }
    };
    auto same = [](std::optional<std::int64_t> value) { return value; };
    first(device, {"device id", "device_id"}, narrow);
    first(context, {"context id", "context_id"}, narrow);
    first(stream, {"stream id", "stream_id", "stream_ID", "queue"}, same);
    if (auto id = event.number("corr_id")) correlation = id;
    std::uint64_t flow = event.flows.empty() ? 0 : event.flows.front();
    if (writer_ == Writer::wprof && flow != 0) {
        correlation = static_cast<std::int64_t>(flow & 0xFFFFFFFF);
        process = places_.process(static_cast<std::int64_t>(flow >> 32));
    }
    if (auto pid = event.number("process_id"); pid && writer_ == Writer::cuspy) process = places_.process(*pid);
    if (auto known = callers_.find(flow); flow != 0 && known != callers_.end() && process == kNoString)
        process = known->second;
    // The number of an agent becomes that of its GPU in the end.
    for (std::string_view key : {"agent", "dst_agent", "src_agent"}) {
        auto agent = narrow(number_after(event.text(key), "Agent-"));
        if (!agent || device) continue;
        bool host =
            (key == "dst_agent" && amd_copy_kind(event.name).ends_with("toH")) || event.text("agent_type") == "(CPU)";
        if (host) continue;
        device = agent;
        gpu_agents_.insert(*agent);
    }
    if (device) {
        table.device.set(row, *device);
        if (writer_ != Writer::rocprofv3 && writer_ != Writer::rocprof_sys) add_device(*device);
    }
    if (context && *context != 0) table.context.set(row, *context);
    if (stream) table.stream.set(row, *stream);
    if (process != kNoString) table.process.set(row, process);
    set_id(table.correlation, row, correlation);
    set_id(table.graph_id, row, event.number("graph id"));
    set_id(table.graph_node_id, row,
           event.find("graph_node") != nullptr ? event.number("graph_node") : event.number("graph node id"));
}

// The shape of a launch. rocprofv3 writes products, from which no shape can be told.
void PerfettoRows::put_shape(Row row, const Event& event) {
    KernelTable& table = batch_.tables.kernel;
    Column<std::int32_t>* const columns[] = {&table.grid_x,  &table.grid_y,  &table.grid_z,
                                             &table.block_x, &table.block_y, &table.block_z};
    auto set = [&](int i, std::optional<std::int64_t> value) {
        if (auto number = narrow(value)) columns[i]->set(row, *number);
    };
    constexpr std::string_view kSingle[] = {"grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z"};
    for (int i = 0; i < 6; ++i) set(i, event.number(kSingle[i]));
    std::int64_t grid[3], block[3];
    bool amd = writer_ == Writer::rocprof_sys;
    int grids = read_triple(event.text(amd ? "grid_size" : "grid"), grid),
        blocks = read_triple(event.text(amd ? "workgroup_size" : "block"), block);
    if (amd && grids != blocks) return;
    for (int i = 0; i < grids; ++i) set(i, amd ? (grid[i] - 1) / block[i] + 1 : grid[i]);
    for (int i = 0; i < blocks; ++i) set(3 + i, block[i]);
}

Row PerfettoRows::write_kernel(const Event& event, const Place& at) {
    KernelTable& table = batch_.tables.kernel;
    Row row = span_row(table, event);
    std::string_view mangled = event.text("mangled_name");
    auto [readable, added] = readable_.try_emplace(std::string(mangled), kNoString);
    if (added) readable->second = batch_.intern(demangled(mangled));
    table.name.set(row, mangled.empty() ? batch_.intern(event.name) : readable->second);
    put_place(table, row, event, at);
    put_shape(row, event);
    auto registers = event.number(writer_ == Writer::rocprofv3 ? "VGPR_Count" : "registers");
    if (auto value = narrow(registers)) table.registers.set(row, *value);
    auto shared = event.number(writer_ == Writer::rocprofv3 ? "LDS_Block_Size" : "shared_bytes");
    if (shared && *shared >= 0) table.shared_bytes.set(row, *shared);
    if (auto local = event.number("Scratch_Size"); local && *local >= 0) table.local_bytes.set(row, *local);
    if (writer_ == Writer::rocprofv3) write_counters(row, event);
    return row;
}

// rocprofv3 adds the counters of a kernel to its arguments; they are its only real numbers.
void PerfettoRows::write_counters(Row kernel, const Event& event) {
    bool any =
        std::any_of(event.notes.begin(), event.notes.end(), [](const Note& note) { return note.real.has_value(); });
    if (!any) return;
    const KernelTable& of = batch_.tables.kernel;
    ProfiledKernelTable& profiled = batch_.tables.profiled_kernel;
    KernelCounterTable& table = batch_.tables.kernel_counter;
    Row at = profiled.add();
    std::int64_t launch = static_cast<std::int64_t>(at) + 1;
    profiled.launch.set(at, launch);
    if (auto device = of.device.get(kernel)) profiled.device.set(at, *device);
    if (auto stream = of.stream.get(kernel)) profiled.stream.set(at, *stream);
    profiled.name.set(at, of.name[kernel]);
    if (auto dur = event.number("delta_ns"); dur && *dur >= 0) profiled.dur.set(at, *dur);
    profiled.kind.set(at, batch_.intern("kernel"));
    profiled.tool.set(at, batch_.intern("rocprofv3"));
    set_id(profiled.correlation, at, of.correlation.get(kernel));
    for (const Note& note : event.notes) {
        if (!note.real || !std::isfinite(*note.real)) continue;
        Row row = table.add();
        table.launch.set(row, launch);
        table.metric.set(row, batch_.intern(note.key));
        table.value.set(row, *note.real);
    }
}

Row PerfettoRows::write_copy(const Event& event, const Place& at) {
    MemcpyTable& table = batch_.tables.memcpy;
    Row row = span_row(table, event);
    put_place(table, row, event, at);
    std::string_view kind = event.text("kind"), source = event.text("src"), target = event.text("dst");
    if (writer_ == Writer::gpu_profile && event.name.starts_with("copy ")) kind = event.name.substr(5);
    if (writer_ == Writer::wprof) source = event.text("src_kind"), target = event.text("dst_kind");
    if (std::string_view amd = amd_copy_kind(event.name); !amd.empty()) {
        kind = amd;
        source = amd.starts_with('H') ? "host" : "device";
        target = amd.ends_with('H') ? "host" : "device";
    }
    if (!kind.empty()) table.kind.set(row, batch_.intern(kind));
    if (!source.empty()) table.src.set(row, batch_.intern(source));
    if (!target.empty()) table.dst.set(row, batch_.intern(target));
    for (std::string_view key : {"bytes", "byte_cnt", "copy_bytes"})
        if (auto bytes = event.number(key); bytes && *bytes >= 0) table.bytes.set(row, *bytes);
    return row;
}

Row PerfettoRows::write_fill(const Event& event, const Place& at) {
    MemsetTable& table = batch_.tables.memset;
    Row row = span_row(table, event);
    put_place(table, row, event, at);
    if (std::string_view kind = event.text("kind"); !kind.empty()) table.kind.set(row, batch_.intern(kind));
    for (std::string_view key : {"bytes", "byte_cnt"})
        if (auto bytes = event.number(key); bytes && *bytes >= 0) table.bytes.set(row, *bytes);
    return row;
}

Row PerfettoRows::write_call(const Event& event, const Place& at) {
    ApiCallTable& table = batch_.tables.api_call;
    Row row = span_row(table, event);
    std::string_view name = event.name;
    bool cuda = writer_ == Writer::wprof || writer_ == Writer::cuspy;
    if (cuda) name = cuda::without_version(name);
    table.name.set(row, batch_.intern(name));
    std::string_view api = name.starts_with("hip")    ? "hip"
                           : name.starts_with("hsa_") ? "hsa"
                           : name.starts_with("nccl") ? "rccl"
                           : name.starts_with("cuda") ? "runtime"
                           : name.starts_with("cu")   ? "driver"
                                                      : "";
    if (!api.empty()) table.api.set(row, batch_.intern(api));
    if (at.thread != kNoString) table.thread.set(row, at.thread);
    if (at.process != kNoString) table.process.set(row, at.process);
    auto correlation = event.number("correlation");
    if (auto id = event.number("corr_id")) correlation = id;
    for (std::uint64_t flow : event.flows) {
        if (writer_ == Writer::wprof) correlation = static_cast<std::int64_t>(flow & 0xFFFFFFFF);
        if (at.process != kNoString) callers_.emplace(flow, at.process);
    }
    set_id(table.correlation, row, correlation);
    set_id(table.external_id, row, event.number("External id"));
    return row;
}

Row PerfettoRows::write_op(const Event& event, const Place& at) {
    OpTable& table = batch_.tables.op;
    Row row = span_row(table, event);
    if (at.thread != kNoString) table.thread.set(row, at.thread);
    table.name.set(row, batch_.intern(event.name));
    bool ours = writer_ == Writer::gpu_profile;
    set_id(table.external_id, row, event.number("External id"));
    if (auto sequence = event.number(ours ? "sequence" : "Sequence number")) table.sequence.set(row, *sequence);
    const std::pair<std::string_view, Column<StringId>*> texts[] = {
        {ours ? "input_dims" : "Input Dims", &table.input_dims},
        {ours ? "input_types" : "Input type", &table.input_types}};
    for (auto [key, column] : texts)
        if (std::string_view text = event.text(key); !text.empty()) column->set(row, batch_.intern(text));
    return row;
}

Row PerfettoRows::write_range(const Event& event, const Place& at) {
    RangeTable& table = batch_.tables.range;
    Row row = span_row(table, event);
    if (at.thread != kNoString) table.thread.set(row, at.thread);
    table.name.set(row, batch_.intern(event.name));
    std::string_view domain = event.text("domain"), category = event.text("category");
    if (writer_ != Writer::gpu_profile && writer_ != Writer::proton && event.category != "marker_api" &&
        event.category != "rocm_marker_api")
        domain = event.category;
    if (!domain.empty()) table.domain.set(row, batch_.intern(domain));
    if (!category.empty()) table.category.set(row, batch_.intern(category));
    set_id(table.external_id, row, event.number("External id"));
    return row;
}

Row PerfettoRows::write_sync(const Event& event, const Place& at) {
    SyncTable& table = batch_.tables.sync;
    Row row = span_row(table, event);
    std::string_view kind = event.text("cuda_sync_kind");
    constexpr std::pair<std::string_view, std::string_view> kKinds[] = {{"event_sync", "Event Sync"},
                                                                        {"stream_wait_event", "Stream Wait Event"},
                                                                        {"stream_sync", "Stream Sync"},
                                                                        {"context_sync", "Context Sync"}};
    for (auto [theirs, ours] : kKinds)
        if (event.text("kind") == theirs) kind = ours;
    table.kind.set(row, batch_.intern(kind.empty() ? event.name : kind));
    auto set = [&](auto& column, std::optional<std::int64_t> value) {
        if (value && *value >= 0 && *value < UINT32_MAX) column.set(row, static_cast<std::int32_t>(*value));
    };
    auto either = [&](std::string_view one, std::string_view other) {
        auto value = event.number(one);
        return value ? value : event.number(other);
    };
    auto device = either("device", "device_id"), stream = either("stream", "stream_id");
    set(table.device, device ? device : std::optional<std::int64_t>(at.device));
    set(table.context, either("context", "context_id"));
    if (stream && *stream >= 0 && *stream < UINT32_MAX) table.stream.set(row, *stream);
    set_id(table.correlation, row, event.number("correlation"));
    if (auto value = event.number("wait_on_stream")) table.wait_on_stream.set(row, *value);
    set_id(table.wait_on_correlation, row, event.number("wait_on_cuda_event_record_corr_id"));
    return row;
}

// A thread's key is HOST:PID/TID or PID/TID.
Row PerfettoRows::write_cpu(const Event& event, const Place& at) {
    CpuSliceTable& table = batch_.tables.cpu_slice;
    Row row = span_row(table, event);
    std::string_view key = event.text("thread");
    std::size_t slash = key.rfind('/'), colon = key.rfind(':', slash);
    auto tid = slash == key.npos ? std::nullopt : number_after(key.substr(slash), "/");
    auto pid = number_after(colon == key.npos ? key : key.substr(colon), colon == key.npos ? "" : ":");
    if (tid && pid) {
        StringId process = places_.process(*pid);
        table.process.set(row, process);
        table.thread.set(row, places_.thread(process, *tid, event.name == key ? std::string_view() : event.name));
    }
    if (at.cpu) table.cpu.set(row, *at.cpu);
    if (std::string_view state = event.text("end_state"); !state.empty())
        table.end_state.set(row, batch_.intern(state));
    return row;
}

void PerfettoRows::instant(const Event& event) {
    const Place& at = place(event.track);
    if (event.name.empty() && event.notes.empty()) return;
    write_range(event, at);
    last_ = std::max(last_, event.time);
}

void PerfettoRows::add_sample(TimeNs time, std::optional<std::int32_t> device, std::string_view metric,
                              std::string_view unit, double value) {
    if (!std::isfinite(value)) return batch_.lose(Loss::bad_number, metric);
    SampleTable& table = batch_.tables.sample;
    Row row = table.add();
    table.time.set(row, time);
    if (device) table.device.set(row, *device);
    table.metric.set(row, batch_.intern(metric));
    if (!unit.empty()) table.unit.set(row, batch_.intern(unit));
    table.value.set(row, value);
}

// rocprofv3's counters repeat what its copies and kernels say, with zeros of its own.
void PerfettoRows::count(const Event& event) {
    if (writer_ == Writer::rocprofv3) return;
    auto found = trace_.tracks().find(event.track);
    if (found == trace_.tracks().end()) return batch_.lose(Loss::missing_field, "counter without a track");
    const Track& track = found->second;
    const Place& at = place(event.track);
    std::string_view name = track.name;
    std::optional<std::int64_t> pid = at.device ? std::nullopt : at.pid;
    if (std::size_t of = name.rfind(", process "); of != name.npos && writer_ == Writer::gpu_profile) {
        pid = number_after(name.substr(of), ", process ");
        name = name.substr(0, of);
    }
    Row row = static_cast<Row>(batch_.tables.sample.rows);
    add_sample(event.time, at.device, name, track.unit, event.value * track.multiplier.value_or(1));
    if (pid && batch_.tables.sample.rows > row) batch_.tables.sample.pid.set(row, *pid);
}

// Cuspy's counters, by the names that other recorders use. Its cycles are a duration times a clock: not measured.
void PerfettoRows::gpu_count(const GpuCount& count) {
    struct Known {
        std::string_view theirs, ours, unit;
    };
    constexpr Known kKnown[] = {{"Power (W)", "power", "W"},
                                {"Temperature (C)", "temp", "C"},
                                {"SM Clock (MHz)", "clock.sm", "MHz"},
                                {"Memory Clock (MHz)", "clock.mem", "MHz"}};
    if (count.name.empty() || count.name.starts_with("Cycles (Current Kernel)"))
        return batch_.lose_named(Loss::unknown_event, "", count.name.empty() ? "unnamed counter" : count.name);
    auto device = narrow(count.gpu);
    for (const Known& known : kKnown)
        if (count.name == known.theirs) return add_sample(count.time, device, known.ours, known.unit, count.value);
    std::string_view name = count.name, unit;
    if (std::size_t open = name.rfind(" ("); open != name.npos && name.ends_with(')')) {
        unit = name.substr(open + 2, name.size() - open - 3);
        name = name.substr(0, open);
    }
    add_sample(count.time, device, name, unit, count.value);
}

// Extras that are zero are left out, and so is a GPU that is 0.
void PerfettoRows::stage(const Stage& stage) {
    Place at;
    at.device = narrow(stage.gpu);
    at.stream = 0;
    Tables& tables = batch_.tables;
    last_ = std::max(last_, stage.time + stage.dur);
    Stage named = stage;
    if (!stage.kernel.empty()) named.name = stage.kernel;
    if (stage.kind == kStages[0]) {
        Row row = write_kernel(named, at);
        set_duration(Kind::kernel, row, stage.dur);
        Column<std::int32_t>* const grid[] = {&tables.kernel.grid_x, &tables.kernel.grid_y, &tables.kernel.grid_z};
        Column<std::int32_t>* const block[] = {&tables.kernel.block_x, &tables.kernel.block_y, &tables.kernel.block_z};
        for (int i = 0; i < 3; ++i) {
            if (auto value = narrow(stage.grid[i])) grid[i]->set(row, *value);
            if (auto value = narrow(stage.block[i])) block[i]->set(row, *value);
        }
        for (const Note& argument : stage.arguments) {
            if (argument.key == "registers_per_thread")
                if (auto value = narrow(argument.number)) tables.kernel.registers.set(row, *value);
            if (argument.key == "shared_mem_dynamic" && argument.number && *argument.number >= 0)
                tables.kernel.shared_bytes.set(row, *argument.number);
        }
    } else if (stage.kind == kStages[1]) {
        set_duration(Kind::memcpy, write_copy(named, at), stage.dur);
    } else if (stage.kind == kStages[2]) {
        set_duration(Kind::memset, write_fill(named, at), stage.dur);
    } else if (stage.kind == "Annotation") {
        at.stream = stage.number("stream id").value_or(0);
        set_duration(Kind::device_range, write(Kind::device_range, named, at), stage.dur);
    } else {
        batch_.lose_named(Loss::unknown_event, "", stage.kind.empty() ? "render stage" : stage.kind);
    }
}

void PerfettoRows::set_duration(Kind kind, Row row, DurNs dur) {
    auto set = [&](auto& table) {
        if (!table.dur.is_skipped()) table.dur.change(row, dur);
    };
    Tables& tables = batch_.tables;
    switch (kind) {
        case Kind::kernel: return set(tables.kernel);
        case Kind::memcpy: return set(tables.memcpy);
        case Kind::memset: return set(tables.memset);
        case Kind::device_range: return set(tables.device_range);
        case Kind::call: return set(tables.api_call);
        case Kind::os_call: return set(tables.os_call);
        case Kind::op: return set(tables.op);
        case Kind::range: return set(tables.range);
        case Kind::python: return set(tables.python_call);
        case Kind::overhead: return set(tables.overhead);
        case Kind::sync: return set(tables.sync);
        case Kind::cpu: return set(tables.cpu_slice);
        case Kind::none: return;
    }
}

// Ends carry no names: an end closes what began last on its track.
void PerfettoRows::finish() {
    std::uint64_t without_begin = 0, unfinished = 0;
    for (auto& [track, edges] : by_track_) {
        std::sort(edges.begin(), edges.end(),
                  [](const Edge& a, const Edge& b) { return a.time != b.time ? a.time < b.time : a.order < b.order; });
        std::vector<const Edge*> open;
        for (const Edge& edge : edges) {
            if (edge.begins) {
                open.push_back(&edge);
            } else if (open.empty()) {
                ++without_begin;
            } else {
                set_duration(open.back()->kind, open.back()->row, span_between(open.back()->time, edge.time));
                open.pop_back();
            }
        }
        for (const Edge* edge : open) {
            ++unfinished;
            bool lasts = edge->kind == Kind::range || edge->kind == Kind::op || edge->kind == Kind::python;
            if (lasts) set_duration(edge->kind, edge->row, span_between(edge->time, last_));
        }
    }
    if (without_begin > 0) batch_.lose(Loss::missing_field, "ends of slices whose beginning is missing", without_begin);
    if (unfinished > 0)
        batch_.lose(Loss::unfinished_op, "slices without an end: ranges last until the end, other durations are 0",
                    unfinished);
    number_agents();
    if (writer_ == Writer::gpu_profile) name_processes();
    mark_cut_durations();
    if (writer_ == Writer::unknown)
        batch_.lose(Loss::recorder_warning, "a Perfetto trace of an unknown writer: no GPU work was recognised in it");
}

// Our exporter names the process of a stream only if the device has several. Work whose call is in the file knows it from
// the arrow; the rest of the device's work is of the same process.
void PerfettoRows::name_processes() {
    std::map<std::int32_t, std::set<StringId>> owners;
    auto gather = [&](const auto& table) {
        for (Row row = 0; row < table.process.size(); ++row)
            if (table.process.has(row)) owners[table.device.value_or(row, 0)].insert(table.process[row]);
    };
    auto fill = [&](auto& table) {
        Column<StringId> filled;
        for (Row row = 0; row < table.rows; ++row) {
            auto owner = owners.find(table.device.value_or(row, 0));
            StringId process = table.process.value_or(row, kNoString);
            if (process == kNoString && owner != owners.end() && owner->second.size() == 1)
                process = *owner->second.begin();
            if (process != kNoString) filled.set(row, process);
        }
        filled.pad(table.rows);
        table.process = std::move(filled);
    };
    Tables& tables = batch_.tables;
    gather(tables.kernel), gather(tables.memcpy), gather(tables.memset);
    fill(tables.kernel), fill(tables.memcpy), fill(tables.memset);
}

// AMD's agents include CPUs; GPUs are numbered in the order of their agents.
void PerfettoRows::number_agents() {
    if (gpu_agents_.empty()) return;
    std::map<std::int32_t, std::int32_t> numbers;
    for (std::int32_t agent : gpu_agents_) {
        auto next = static_cast<std::int32_t>(numbers.size());
        numbers.emplace(agent, next);
        add_device(next);
    }
    auto renumber = [&](auto& table) {
        if (table.device.is_skipped()) return;
        for (Row row = 0; row < table.device.size(); ++row)
            if (auto agent = table.device.get(row))
                if (auto known = numbers.find(*agent); known != numbers.end()) table.device.change(row, known->second);
    };
    renumber(batch_.tables.kernel);
    renumber(batch_.tables.memcpy);
    renumber(batch_.tables.profiled_kernel);
}

// Cuspy ends work where the next one of its lane starts, and rocprofv3 moves both to the middle of what they share.
void PerfettoRows::mark_cut_durations() {
    if (writer_ != Writer::cuspy && writer_ != Writer::rocprofv3) return;
    std::map<std::pair<std::int32_t, std::int64_t>, std::vector<std::pair<TimeNs, TimeNs>>> lanes;
    auto gather = [&](const auto& table) {
        if (table.start.is_skipped() || table.dur.is_skipped()) return;
        for (Row row = 0; row < table.rows; ++row)
            lanes[{table.device.value_or(row, -1), table.stream.value_or(row, -1)}].emplace_back(
                table.start[row], table.start[row] + table.dur[row]);
    };
    gather(batch_.tables.kernel);
    gather(batch_.tables.memcpy);
    gather(batch_.tables.memset);
    std::uint64_t touching = 0;
    for (auto& [lane, spans] : lanes) {
        std::sort(spans.begin(), spans.end());
        for (std::size_t i = 1; i < spans.size(); ++i) touching += spans[i - 1].second == spans[i].first ? 1 : 0;
    }
    if (touching == 0) return;
    batch_.lose(Loss::recorder_warning,
                "device work ends exactly where the next work of its stream starts: this writer cuts overlapping work "
                "there, so these durations may be too short",
                touching);
}

}  // namespace gpuprof::importers::perfetto
