// The writers, and the tables that their categories fill. Sources: PyTorch's Cuspy (pull request 187892), rocprofiler-sdk
// (source/lib/output/generatePerfetto.cpp), rocprofiler-systems, anakryiko/wprof, Triton's Proton, io/exporters/perfetto.cc.
#include "io/importers/perfetto/perfetto_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/model/build/submission.h"
#include "io/importers/amd_rows.h"
#include "io/importers/cuspy_counter.h"
#include "io/importers/row_values.h"
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
        add_gpu(*place.device, colon == name.npos ? std::string_view() : name.substr(colon + 2));
    }
    // A thread without work of its own has no place: only what was found is kept.
    known->second = std::move(place);
    return known->second;
}

void PerfettoRows::add_gpu(std::int32_t device, std::string_view name) {
    bool amd = writer_ == Writer::rocprofv3 || writer_ == Writer::rocprof_sys;
    bool nvidia = writer_ == Writer::cuspy || writer_ == Writer::wprof;
    add_device(batch_, devices_, device, amd ? "amd" : nvidia ? "nvidia" : "", name);
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
                                          !amd::copy_kind(event.name).empty());
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
        Row row = add_span(table, event.time, 0);
        set_known(table.thread, row, at.thread);
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
            Row row = add_span(table, event.time, 0);
            set_known(table.device, row, at.device);
            set_known(table.stream, row, at.stream);
            table.name.set(row, batch_.intern(event.name));
            return row;
        }
        case Kind::none: break;
    }
    return 0;
}

Row PerfettoRows::write_call(const Event& event, const Place& at) {
    ApiCallTable& table = batch_.tables.api_call;
    Row row = add_span(table, event.time, 0);
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
    set_text(batch_, table.api, row, api);
    set_known(table.thread, row, at.thread);
    set_known(table.process, row, at.process);
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
    Row row = add_span(table, event.time, 0);
    set_known(table.thread, row, at.thread);
    table.name.set(row, batch_.intern(event.name));
    bool ours = writer_ == Writer::gpu_profile;
    set_id(table.external_id, row, event.number("External id"));
    set_known(table.sequence, row, event.number(ours ? "sequence" : "Sequence number"));
    const std::pair<std::string_view, Column<StringId>*> texts[] = {
        {ours ? "input_dims" : "Input Dims", &table.input_dims},
        {ours ? "input_types" : "Input type", &table.input_types}};
    for (auto [key, column] : texts)
        if (std::string_view text = event.text(key); !text.empty()) column->set(row, batch_.intern(text));
    return row;
}

Row PerfettoRows::write_range(const Event& event, const Place& at) {
    RangeTable& table = batch_.tables.range;
    Row row = add_span(table, event.time, 0);
    set_known(table.thread, row, at.thread);
    table.name.set(row, batch_.intern(event.name));
    std::string_view domain = event.text("domain"), category = event.text("category");
    if (writer_ != Writer::gpu_profile && writer_ != Writer::proton && event.category != "marker_api" &&
        event.category != "rocm_marker_api")
        domain = event.category;
    set_text(batch_, table.domain, row, domain);
    set_text(batch_, table.category, row, category);
    set_id(table.external_id, row, event.number("External id"));
    return row;
}

Row PerfettoRows::write_sync(const Event& event, const Place& at) {
    SyncTable& table = batch_.tables.sync;
    Row row = add_span(table, event.time, 0);
    std::string_view kind = event.text("cuda_sync_kind");
    if (std::string_view known = cuda::sync_kind_of(event.text("kind")); !known.empty()) kind = known;
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
    set_known(table.wait_on_stream, row, event.number("wait_on_stream"));
    set_id(table.wait_on_correlation, row, event.number("wait_on_cuda_event_record_corr_id"));
    return row;
}

// A thread's key is HOST:PID/TID or PID/TID.
Row PerfettoRows::write_cpu(const Event& event, const Place& at) {
    CpuSliceTable& table = batch_.tables.cpu_slice;
    Row row = add_span(table, event.time, 0);
    std::string_view key = event.text("thread");
    std::size_t slash = key.rfind('/'), colon = key.rfind(':', slash);
    auto tid = slash == key.npos ? std::nullopt : number_after(key.substr(slash), "/");
    auto pid = number_after(colon == key.npos ? key : key.substr(colon), colon == key.npos ? "" : ":");
    if (tid && pid) {
        StringId process = places_.process(*pid);
        table.process.set(row, process);
        table.thread.set(row, places_.thread(process, *tid, event.name == key ? std::string_view() : event.name));
    }
    set_known(table.cpu, row, at.cpu);
    set_text(batch_, table.end_state, row, event.text("end_state"));
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
    set_known(table.device, row, device);
    table.metric.set(row, batch_.intern(metric));
    set_text(batch_, table.unit, row, unit);
    table.value.set(row, value);
}

// rocprofv3's counters repeat what its copies and kernels say, with zeros of its own.
void PerfettoRows::count(const Event& event) {
    if (writer_ == Writer::rocprofv3) return;
    constexpr std::int64_t kNoProcess = -1;
    auto found = trace_.tracks().find(event.track);
    if (found == trace_.tracks().end()) return batch_.lose(Loss::missing_field, "counter without a track");
    const Track& track = found->second;
    const Place& at = place(event.track);
    std::string_view name = track.name;
    std::int64_t pid = at.device ? kNoProcess : at.pid.value_or(kNoProcess);
    if (std::size_t of = name.rfind(", process "); of != name.npos && writer_ == Writer::gpu_profile) {
        pid = number_after(name.substr(of), ", process ").value_or(kNoProcess);
        name = name.substr(0, of);
    }
    Row row = static_cast<Row>(batch_.tables.sample.rows);
    add_sample(event.time, at.device, name, track.unit, event.value * track.multiplier.value_or(1));
    if (pid != kNoProcess && batch_.tables.sample.rows > row) batch_.tables.sample.pid.set(row, pid);
}

void PerfettoRows::gpu_count(const GpuCount& count) {
    auto [name, unit] = cuspy_counter(count.name);
    if (name.empty())
        return batch_.lose_named(Loss::unknown_event, "", count.name.empty() ? "unnamed counter" : count.name);
    add_sample(count.time, narrow(count.gpu), name, unit, count.value);
}

void PerfettoRows::set_duration(Kind kind, Row row, DurNs dur) {
    Tables& t = batch_.tables;
    // In the order of Kind.
    Column<DurNs>* const all[] = {nullptr,         &t.kernel.dur,  &t.memcpy.dur,   &t.memset.dur, &t.device_range.dur,
                                  &t.api_call.dur, &t.os_call.dur, &t.op.dur,       &t.range.dur,  &t.python_call.dur,
                                  &t.overhead.dur, &t.sync.dur,    &t.cpu_slice.dur};
    Column<DurNs>* column = all[static_cast<std::size_t>(kind)];
    if (column != nullptr && !column->is_skipped()) column->change(row, dur);
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
    batch_.tables.close();  // columns that end with their last value are read now
    number_agents();
    if (writer_ == Writer::gpu_profile) name_processes();
    if (writer_ == Writer::rocprofv3 && batch_.tables.memcpy.rows == 0) {
        std::uint64_t calls = 0;
        const ApiCallTable& table = batch_.tables.api_call;
        for (Row row = 0; row < table.name.size(); ++row)
            if (auto name = table.name.get(row)) calls += submission_of(batch_.strings[*name]) == Submission::copy;
        amd::lose_untraced_copies(batch_, calls);
    }
    mark_cut_durations();
    if (writer_ == Writer::unknown)
        batch_.lose(Loss::recorder_warning, "a Perfetto trace of an unknown writer: no GPU work was recognised in it");
}

}  // namespace gpuprof::importers::perfetto
