// Part of the Perfetto importer: kernels with their counters, copies and fills.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/text/function_name.h"
#include "io/importers/amd_rows.h"
#include "io/importers/perfetto/perfetto_rows.h"
#include "io/importers/row_values.h"

namespace gpuprof::inline importers::perfetto {
namespace {

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

constexpr std::string_view kStages[] = {"Kernel", "Memcpy", "Memset"};

}  // namespace

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

// Device, context, stream, process and correlation of device work: the arguments say more than the track.
DeviceWork PerfettoRows::work_of(const Event& event, const Place& at) {
    DeviceWork work;
    work.device = at.device;
    work.context = at.context;
    work.stream = at.stream;
    work.correlation = event.number("correlation");
    if (writer_ == Writer::gpu_profile && at.pid) work.process = places_.process(*at.pid);
    auto first = [&](auto& to, std::initializer_list<std::string_view> keys, auto convert) {
        for (std::string_view key : keys)
            if (auto value = convert(event.number(key))) {
                to = value;
                return;
            }
    };
    auto same = [](std::optional<std::int64_t> value) { return value; };
    first(work.device, {"device id", "device_id"}, narrow);
    first(work.context, {"context id", "context_id"}, narrow);
    first(work.stream, {"stream id", "stream_id", "stream_ID", "queue"}, same);
    if (auto id = event.number("corr_id")) work.correlation = id;
    std::uint64_t flow = event.flows.empty() ? 0 : event.flows.front();
    if (writer_ == Writer::wprof && flow != 0) {
        work.correlation = static_cast<std::int64_t>(flow & 0xFFFFFFFF);
        work.process = places_.process(static_cast<std::int64_t>(flow >> 32));
    }
    if (auto pid = event.number("process_id"); pid && writer_ == Writer::cuspy) work.process = places_.process(*pid);
    if (auto known = callers_.find(flow); flow != 0 && known != callers_.end() && work.process == kNoString)
        work.process = known->second;
    // The number of an agent becomes that of its GPU in the end.
    for (std::string_view key : {"agent", "dst_agent", "src_agent"}) {
        auto agent = narrow(number_after(event.text(key), "Agent-"));
        if (!agent || work.device) continue;
        bool host =
            (key == "dst_agent" && amd::copy_kind(event.name).ends_with("toH")) || event.text("agent_type") == "(CPU)";
        if (host) continue;
        work.device = agent;
        gpu_agents_.insert(*agent);
    }
    if (work.device && writer_ != Writer::rocprofv3 && writer_ != Writer::rocprof_sys) add_gpu(*work.device);
    if (work.context == 0) work.context.reset();
    work.graph = event.number("graph id");
    work.graph_node = event.find("graph_node") != nullptr ? event.number("graph_node") : event.number("graph node id");
    return work;
}

// The shape of a launch. rocprofv3 writes products, from which no shape can be told.
void PerfettoRows::put_shape(Row row, const Event& event) {
    KernelTable& table = batch_.tables.kernel;
    ShapeColumns columns(table);
    constexpr std::string_view kGrid[] = {"grid_x", "grid_y", "grid_z"}, kBlock[] = {"block_x", "block_y", "block_z"};
    for (int i = 0; i < 3; ++i) {
        set_small(*columns.grid[i], row, event.number(kGrid[i]));
        set_small(*columns.block[i], row, event.number(kBlock[i]));
    }
    std::int64_t grid[3], block[3];
    bool amd = writer_ == Writer::rocprof_sys;
    int grids = read_triple(event.text(amd ? "grid_size" : "grid"), grid),
        blocks = read_triple(event.text(amd ? "workgroup_size" : "block"), block);
    if (amd && grids != blocks) return;
    for (int i = 0; i < grids; ++i) set_small(*columns.grid[i], row, amd ? (grid[i] - 1) / block[i] + 1 : grid[i]);
    for (int i = 0; i < blocks; ++i) set_small(*columns.block[i], row, block[i]);
}

Row PerfettoRows::write_kernel(const Event& event, const Place& at) {
    KernelTable& table = batch_.tables.kernel;
    Row row = add_span(table, event.time, 0);
    std::string_view mangled = event.text("mangled_name");
    auto [readable, added] = readable_.try_emplace(std::string(mangled), kNoString);
    if (added) readable->second = batch_.intern(demangled(mangled));
    table.name.set(row, mangled.empty() ? batch_.intern(event.name) : readable->second);
    set_work(table, row, work_of(event, at));
    put_shape(row, event);
    auto registers = event.number(writer_ == Writer::rocprofv3 ? "VGPR_Count" : "registers");
    set_known(table.registers, row, narrow(registers));
    set_count(table.shared_bytes, row, event.number(writer_ == Writer::rocprofv3 ? "LDS_Block_Size" : "shared_bytes"));
    set_count(table.local_bytes, row, event.number("Scratch_Size"));
    if (writer_ == Writer::rocprofv3) write_counters(row, event);
    return row;
}

// rocprofv3 adds the counters of a kernel to its arguments; they are its only real numbers.
void PerfettoRows::write_counters(Row kernel, const Event& event) {
    bool any =
        std::any_of(event.notes.begin(), event.notes.end(), [](const Note& note) { return note.real.has_value(); });
    if (!any) return;
    std::int64_t launch = amd::add_profiled_kernel(batch_, kernel, event.number("delta_ns"));
    for (const Note& note : event.notes)
        if (note.real && std::isfinite(*note.real))
            amd::add_counter(batch_, launch, batch_.intern(note.key), kNoString, *note.real);
}

Row PerfettoRows::write_copy(const Event& event, const Place& at) {
    MemcpyTable& table = batch_.tables.memcpy;
    Row row = add_span(table, event.time, 0);
    set_work(table, row, work_of(event, at));
    std::string_view kind = event.text("kind"), source = event.text("src"), target = event.text("dst");
    if (writer_ == Writer::gpu_profile && event.name.starts_with("copy ")) kind = event.name.substr(5);
    if (writer_ == Writer::wprof) source = event.text("src_kind"), target = event.text("dst_kind");
    if (std::string_view amd = amd::copy_kind(event.name); !amd.empty()) {
        kind = amd;
        source = amd.starts_with('H') ? "host" : "device";
        target = amd.ends_with('H') ? "host" : "device";
    }
    set_text(batch_, table.kind, row, kind);
    set_text(batch_, table.src, row, source);
    set_text(batch_, table.dst, row, target);
    for (std::string_view key : {"bytes", "byte_cnt", "copy_bytes"}) set_count(table.bytes, row, event.number(key));
    return row;
}

Row PerfettoRows::write_fill(const Event& event, const Place& at) {
    MemsetTable& table = batch_.tables.memset;
    Row row = add_span(table, event.time, 0);
    set_work(table, row, work_of(event, at));
    set_text(batch_, table.kind, row, event.text("kind"));
    for (std::string_view key : {"bytes", "byte_cnt"}) set_count(table.bytes, row, event.number(key));
    return row;
}

// Extras that are zero are omitted, and so is GPU 0.
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
        ShapeColumns columns(tables.kernel);
        for (int i = 0; i < 3; ++i) {
            set_small(*columns.grid[i], row, stage.grid[i]);
            set_small(*columns.block[i], row, stage.block[i]);
        }
        for (const Note& argument : stage.arguments) {
            if (argument.key == "registers_per_thread")
                set_known(tables.kernel.registers, row, narrow(argument.number));
            if (argument.key == "shared_mem_dynamic") set_count(tables.kernel.shared_bytes, row, argument.number);
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
            set_known(filled, row, process);
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
        add_gpu(next);
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
    batch_.lose(Loss::cut_duration, name_of(writer_), touching);
}

}  // namespace gpuprof::importers::perfetto
