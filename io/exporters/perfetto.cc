// The Perfetto exporter: a trace in the protobuf format of ui.perfetto.dev and its trace_processor. Processes with
// their threads, devices with their streams, counters; arrows lead from a call to the device work that it submitted.
// Times are integer nanoseconds of UTC, both on Perfetto's boot clock and on its real-time clock.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <tuple>

#include "io/exporters/counter_points.h"
#include "io/exporters/exporter.h"
#include "io/exporters/lanes.h"
#include "io/exporters/perfetto/fields.h"
#include "io/exporters/perfetto/sequence.h"

namespace gpuprof::inline exporters {
namespace {

using namespace perfetto;
using protozero::pbf_writer;

enum Source : std::uint32_t {
    kKernel,
    kMemcpy,
    kMemset,
    kApi,
    kSystem,
    kOp,
    kRange,
    kPython,
    kOverhead,
    kDeviceRange,
    kCpu
};
constexpr const char* kCategories[] = {"kernel", "memcpy",   "memset",          "api", "os", "op", "range",
                                       "python", "overhead", "range on device", "cpu"};

class PerfettoExport {
public:
    PerfettoExport(const Trace& trace, Sink& sink)
        : trace_(trace), tables_(trace.tables()), sink_(sink), start_(trace.full_window().start) {
        if (start_ < 0) shift_ = -start_;  // the format has no negative times
        for (Row row = 0; row < tables_.sample.rows; ++row) start_ = std::min(start_, tables_.sample.time[row]);
        for (Row row = 0; row < tables_.memory_event.rows; ++row)
            start_ = std::min(start_, tables_.memory_event.time[row]);
        for (Row row = 0; row < tables_.cpu_sample.rows; ++row) start_ = std::min(start_, tables_.cpu_sample.time[row]);
        if (tables_.cpu_slice.rows > 0) start_ = std::min(start_, tables_.cpu_slice.start[0]);
        if (start_ < 0) shift_ = -start_;
    }

    void write() {
        write_clocks();
        find_flows();
        write_processes();
        write_threads();
        write_cpus();
        write_streams();
        write_counters();
    }

private:
    std::string_view text(const Column<StringId>& column, Row row, std::string_view otherwise = {}) const {
        return column.has(row) ? trace_.text(column[row]) : otherwise;
    }
    TimeNs shown(TimeNs time) const { return time + shift_; }

    // Describes a track; returns its number.
    template <class Describe>
    std::uint32_t track(std::uint32_t parent, std::string_view name, Describe&& describe) {
        std::string packet;
        pbf_writer writer(packet);
        writer.add_uint32(packet::sequence, kDescriptions);
        {
            pbf_writer descriptor(writer, packet::track_descriptor);
            descriptor.add_uint64(track::uuid, ++tracks_);
            if (parent != 0) descriptor.add_uint64(track::parent, parent);
            if (!name.empty()) descriptor.add_string(track::name, name.data(), name.size());
            describe(descriptor);
        }
        write_packet(sink_, packet);
        return tracks_;
    }
    std::uint32_t track(std::uint32_t parent, std::string_view name) {
        return track(parent, name, [](pbf_writer&) {});
    }
    std::uint32_t counter(std::uint32_t parent, std::string_view name, std::string_view unit) {
        return track(parent, name, [&](pbf_writer& writer) {
            pbf_writer counter(writer, track::counter);
            if (!unit.empty()) counter.add_string(track::counter_unit_name, unit.data(), unit.size());
        });
    }

    void write_clocks() {
        std::string packet;
        pbf_writer writer(packet);
        writer.add_uint32(packet::sequence, kDescriptions);
        {
            pbf_writer snapshot(writer, packet::clock_snapshot);
            for (auto [id, time] :
                 {std::pair(clocks::kBoottime, shown(start_)), std::pair(clocks::kRealtime, start_)}) {
                pbf_writer clock(snapshot, clocks::clock);
                clock.add_uint32(clocks::id, id);
                clock.add_uint64(clocks::timestamp, static_cast<std::uint64_t>(std::max<TimeNs>(0, time)));
            }
        }
        write_packet(sink_, packet);
    }

    // An arrow leads from a call to each device op that it submitted; its id is the call's number.
    void find_flows() {
        submits_.assign(tables_.api_call.rows, false);
        const Links& links = trace_.links();
        for (const PodVector<Row>* launches : {&links.kernel_launch, &links.memcpy_launch, &links.memset_launch})
            for (Row call : *launches)
                if (call != kNoRow) submits_[call] = true;
    }

    void write_processes() {
        const ProcessTable& p = tables_.process;
        for (Row row = 0; row < p.rows; ++row) {
            if (!p.key.has(row)) continue;
            std::string_view name = text(p.name, row);
            std::string rank = p.rank.has(row) ? fmt::format("rank {}", p.rank[row]) : "";
            bool said = name.find(rank) != std::string_view::npos;
            std::string own = said ? std::string(name) : fmt::format("{} {}", name, rank);
            std::int32_t pid = number_process(p.key[row], p.pid.value_or(row, 0));
            processes_[p.key[row]] = track(0, "", [&](pbf_writer& writer) {
                pbf_writer process(writer, track::process);
                process.add_int32(track::process_pid, pid);
                if (p.command.has(row)) process.add_string(track::process_command, std::string(text(p.command, row)));
                if (!own.empty()) process.add_string(track::process_name, own);
            });
        }
    }

    void write_threads() {
        std::map<StringId, std::vector<PlacedSpan>> spans;
        auto gather = [&](Source source, const auto& table) {
            for (Row row = 0; row < table.rows; ++row)
                spans[table.thread.value_or(row, kNoString)].push_back(
                    {table.start[row], table.start[row] + table.dur[row], source, row});
        };
        gather(kRange, tables_.range);
        gather(kPython, tables_.python_call);
        gather(kOp, tables_.op);
        gather(kApi, tables_.api_call);
        gather(kSystem, tables_.os_call);
        gather(kOverhead, tables_.overhead);
        const ThreadTable& t = tables_.thread;
        for (Row row = 0; row < t.rows; ++row) {
            auto mine = t.key.has(row) ? spans.find(t.key[row]) : spans.end();
            if (mine == spans.end()) continue;
            auto process = processes_.find(t.process.value_or(row, kNoString));
            std::uint32_t parent = process == processes_.end() ? 0 : process->second;
            std::uint32_t thread = track(parent, "", [&](pbf_writer& writer) {
                pbf_writer described(writer, track::thread);
                described.add_int32(track::thread_pid, pid_of(t.process.value_or(row, kNoString)));
                described.add_int64(track::thread_tid, t.tid.value_or(row, 0));
                if (t.name.has(row)) described.add_string(track::thread_name, std::string(text(t.name, row)));
            });
            write_lanes(thread, "overlapping", std::move(mine->second), Layout::nested);
            spans.erase(mine);
        }
        for (auto& [key, rest] : spans)
            write_lanes(track(0, "unknown thread"), "overlapping", std::move(rest), Layout::nested);
    }

    // A track per CPU of each host, with what ran on it.
    void write_cpus() {
        const CpuSliceTable& c = tables_.cpu_slice;
        std::map<std::pair<std::string_view, std::int32_t>, std::vector<PlacedSpan>> cpus;
        for (Row row = 0; row < c.rows; ++row)
            if (c.cpu.has(row) && c.thread.has(row)) {
                std::string_view key = text(c.process, row);  // HOST:PID
                cpus[{key.substr(0, key.rfind(':')), c.cpu[row]}].push_back(
                    {c.start[row], c.start[row] + c.dur[row], kCpu, row});
            }
        if (cpus.empty()) return;
        for (Row row = 0; row < tables_.thread.rows; ++row)
            if (tables_.thread.key.has(row) && tables_.thread.name.has(row))
                thread_names_[tables_.thread.key[row]] = tables_.thread.name[row];
        std::uint32_t all = track(0, "CPUs");
        for (auto& [cpu, spans] : cpus)
            write_lanes(track(all, fmt::format("CPU {} of {}", cpu.second, cpu.first)), "at the same time",
                        std::move(spans), Layout::flat);
    }

    // Readers identify a process by its pid. A pid already used by a process of another host becomes one that no system
    // assigns.
    std::int32_t number_process(StringId process, std::int64_t pid) {
        std::int64_t mine = pid >= 0 && pid <= INT32_MAX ? pid : INT32_MAX;
        for (std::int64_t next = INT32_MAX; !taken_pids_.insert(mine).second; --next) mine = next;
        return pids_[process] = static_cast<std::int32_t>(mine);
    }
    std::int32_t pid_of(StringId process) const {
        auto known = pids_.find(process);
        return known == pids_.end() ? 0 : known->second;
    }

    // The first lane is the track itself, others are below it.
    void write_lanes(std::uint32_t own, std::string_view others, std::vector<PlacedSpan> spans, Layout layout) {
        std::vector<std::vector<PlacedSpan>> lanes = lay_out(std::move(spans), layout);
        for (std::size_t i = 0; i < lanes.size(); ++i)
            write_lane(i == 0 ? own : track(own, fmt::format("{} {}", others, i + 1)), lanes[i]);
    }

    void write_lane(std::uint32_t number, const std::vector<PlacedSpan>& spans) {
        Sequence sequence(sink_, number, shown(start_));
        std::vector<TimeNs> open;
        for (const PlacedSpan& span : spans) {
            for (; !open.empty() && open.back() <= span.start; open.pop_back()) sequence.end(shown(open.back()));
            notes_.clear();
            Sequence::Event event = describe(span);
            event.category = kCategories[span.table];
            event.notes = notes_;
            sequence.begin(shown(span.start), event);
            open.push_back(span.end);
            if (sink_.failed()) return;
        }
        for (; !open.empty(); open.pop_back()) sequence.end(shown(open.back()));
    }

    void note(const char* key, std::int64_t number) { notes_.push_back({key, number}); }
    void note(const char* key, std::string text) {
        if (!text.empty()) notes_.push_back({key, 0, std::move(text)});
    }
    template <class T>
    void note(const char* key, const Column<T>& column, Row row) {
        if (!column.has(row)) return;
        if constexpr (std::is_same_v<T, StringId>)
            note(key, std::string(trace_.text(column[row])));
        else
            note(key, static_cast<std::int64_t>(column[row]));
    }

    Sequence::Event submitted(std::string_view name, Row call) const {
        return {"", name, {}, call == kNoRow ? 0 : std::uint64_t{call} + 1};
    }

    Sequence::Event describe(const PlacedSpan& span) {
        Row row = span.row;
        switch (static_cast<Source>(span.table)) {
            case kKernel: {
                const KernelTable& k = tables_.kernel;
                if (k.grid_x.has(row))
                    note("grid", fmt::format("{},{},{}", k.grid_x[row], k.grid_y[row], k.grid_z[row]));
                if (k.block_x.has(row))
                    note("block", fmt::format("{},{},{}", k.block_x[row], k.block_y[row], k.block_z[row]));
                note("registers", k.registers, row);
                note("shared_bytes", k.shared_bytes, row);
                note("correlation", k.correlation, row);
                note("graph_node", k.graph_node_id, row);
                return submitted(text(k.name, row, "kernel"), trace_.links().kernel_launch[row]);
            }
            case kMemcpy: {
                const MemcpyTable& c = tables_.memcpy;
                note("bytes", c.bytes, row);
                note("src", c.src, row);
                note("dst", c.dst, row);
                note("correlation", c.correlation, row);
                label_ = fmt::format("copy {}", text(c.kind, row));
                return submitted(label_, trace_.links().memcpy_launch[row]);
            }
            case kMemset: {
                note("bytes", tables_.memset.bytes, row);
                note("correlation", tables_.memset.correlation, row);
                return submitted("fill", trace_.links().memset_launch[row]);
            }
            case kApi: {
                note("correlation", tables_.api_call.correlation, row);
                return {"", text(tables_.api_call.name, row, "call"), {}, submits_[row] ? std::uint64_t{row} + 1 : 0};
            }
            case kOp:
                note("input_dims", tables_.op.input_dims, row);
                note("input_types", tables_.op.input_types, row);
                note("sequence", tables_.op.sequence, row);
                return {"", text(tables_.op.name, row, "operator"), {}};
            case kRange:
                note("domain", tables_.range.domain, row);
                note("category", tables_.range.category, row);
                return {"", text(tables_.range.name, row, "range"), {}};
            case kSystem: return {"", text(tables_.os_call.name, row, "call"), {}};
            case kPython: return {"", text(tables_.python_call.name, row, "call"), {}};
            case kOverhead: return {"", text(tables_.overhead.name, row, "overhead"), {}};
            case kCpu: {
                const CpuSliceTable& c = tables_.cpu_slice;
                note("thread", c.thread, row);
                note("end_state", c.end_state, row);
                auto named = thread_names_.find(c.thread[row]);
                return {"", trace_.text(named == thread_names_.end() ? c.thread[row] : named->second), {}};
            }
            case kDeviceRange: return {"", text(tables_.device_range.name, row, "range"), {}};
        }
        return {"", "", {}};
    }

    std::uint32_t device_track(std::int32_t device) {
        auto [known, added] = devices_.try_emplace(device, 0);
        if (!added) return known->second;
        std::string name = fmt::format("GPU {}", device);
        for (Row row = 0; row < tables_.device.rows; ++row)
            if (tables_.device.device.get(row) == device && tables_.device.name.has(row))
                name += fmt::format(": {}", trace_.text(tables_.device.name[row]));
        return known->second = track(0, name);
    }

    void write_streams() {
        using Stream =
            std::tuple<std::int32_t, StringId, std::int32_t, std::int64_t>;  // device, process, context, stream
        std::map<Stream, std::vector<PlacedSpan>> spans;
        std::map<std::int32_t, std::map<StringId, bool>> owners;
        auto gather = [&](Source source, const auto& table) {
            for (Row row = 0; row < table.rows; ++row) {
                Stream stream{table.device.value_or(row, 0), table.process.value_or(row, kNoString),
                              table.context.value_or(row, 0), table.stream.value_or(row, 0)};
                owners[std::get<0>(stream)][std::get<1>(stream)] = true;
                spans[stream].push_back({table.start[row], table.start[row] + table.dur[row], source, row});
            }
        };
        gather(kKernel, tables_.kernel);
        gather(kMemcpy, tables_.memcpy);
        gather(kMemset, tables_.memset);
        for (auto& [stream, work] : spans) {
            auto [device, process, context, id] = stream;
            std::string name = fmt::format("stream {}", id);
            if (context > 1) name += fmt::format(", context {}", context);
            if (owners[device].size() > 1) name += fmt::format(", process {}", pid_of(process));
            write_lanes(track(device_track(device), name), "at the same time", std::move(work), Layout::flat);
        }
        std::map<std::pair<std::int32_t, std::int64_t>, std::vector<PlacedSpan>> ranges;
        const DeviceRangeTable& r = tables_.device_range;
        for (Row row = 0; row < r.rows; ++row)
            ranges[{r.device.value_or(row, 0), r.stream.value_or(row, 0)}].push_back(
                {r.start[row], r.start[row] + r.dur[row], kDeviceRange, row});
        for (auto& [stream, work] : ranges)
            write_lanes(track(device_track(stream.first), fmt::format("annotations of stream {}", stream.second)),
                        "overlapping", std::move(work), Layout::nested);
    }

    void write_counters() {
        for (const Counter& each : counters_of(trace_)) {
            auto process = processes_.find(each.process);
            if (!each.device && process == processes_.end()) continue;
            std::uint32_t parent = each.device ? device_track(*each.device) : process->second;
            Sequence sequence(sink_, counter(parent, each.name, each.unit), shown(start_));
            for (auto [time, value] : each.points) sequence.count(shown(time), value);
        }
    }

    static constexpr std::uint32_t kDescriptions = 0x7FFFFFFF;  // the sequence of everything that is not an event
    const Trace& trace_;
    const Tables& tables_;
    Sink& sink_;
    TimeNs start_, shift_ = 0;
    std::uint32_t tracks_ = 0;
    std::map<StringId, std::uint32_t> processes_;  // tracks, by key
    std::map<StringId, std::int32_t> pids_;        // as in the file
    std::set<std::int64_t> taken_pids_;
    std::map<std::int32_t, std::uint32_t> devices_;
    std::map<StringId, StringId> thread_names_;  // by key
    std::vector<bool> submits_;                  // whether a call submitted work
    std::vector<Note> notes_;
    std::string label_;
};

}  // namespace

Status export_perfetto(const Trace& trace, Sink& sink) {
    PerfettoExport(trace, sink).write();
    return {};
}

}  // namespace gpuprof::exporters
