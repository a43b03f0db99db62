// What the events of a Perfetto trace mean, by who wrote it: rows of every table.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/importers/host_places.h"
#include "io/importers/perfetto/perfetto_trace.h"
#include "io/importers/row_values.h"

namespace gpuprof::inline importers::perfetto {

// The number after a text: 7 of "stream 7, context 2" after "stream ".
std::optional<std::int64_t> number_after(std::string_view text, std::string_view before);
std::optional<std::int32_t> narrow(std::optional<std::int64_t> value);

enum class Writer : std::uint8_t { gpu_profile, cuspy, rocprofv3, rocprof_sys, wprof, proton, unknown };

// Recognised from the categories, stages and tracks in the trace.
Writer writer_of(const PerfettoTrace& trace);
std::string_view name_of(Writer writer);

// The tables that slices fill.
enum class Kind : std::uint8_t {
    none,
    kernel,
    memcpy,
    memset,
    device_range,
    call,
    os_call,
    op,
    range,
    python,
    overhead,
    sync,
    cpu
};

class PerfettoRows final : public Receiver {
public:
    PerfettoRows(const PerfettoTrace& trace, Writer writer, Batch& batch)
        : trace_(trace), writer_(writer), batch_(batch), places_(batch) {}

    void begin(const Event& event, std::uint64_t order) override;
    void end(std::uint64_t track, TimeNs time, std::uint64_t order) override;
    void instant(const Event& event) override;
    void count(const Event& event) override;
    void stage(const Stage& stage) override;
    void gpu_count(const GpuCount& count) override;
    // Pairs begins and ends, and numbers devices, once everything was read.
    void finish();
    // Bytes held apart from the rows.
    std::size_t bytes() const { return edges_ * sizeof(Edge); }

private:
    // A begin or an end on a track. Writers need not write in the order of time.
    struct Edge {
        TimeNs time;
        std::uint64_t order;
        Row row;
        Kind kind;
        bool begins;
    };
    // Where a track is: of a stream, a thread or a process. What a track lacks, its parent has.
    struct Place {
        StringId process = kNoString, thread = kNoString;
        std::optional<std::int32_t> device, context;
        std::optional<std::int64_t> stream, pid;
        std::optional<std::int32_t> cpu;
        std::string host;
        bool of_recorder = false, of_gpu = false;
    };

    const Place& place(std::uint64_t track);
    void read_name(std::string_view name, Place& place) const;
    Kind kind_of(const Event& event, const Place& place) const;
    Row write(Kind kind, const Event& event, const Place& place);
    DeviceWork work_of(const Event& event, const Place& place);
    Row write_kernel(const Event& event, const Place& place);
    Row write_copy(const Event& event, const Place& place);
    Row write_fill(const Event& event, const Place& place);
    Row write_call(const Event& event, const Place& place);
    Row write_op(const Event& event, const Place& place);
    Row write_range(const Event& event, const Place& place);
    Row write_sync(const Event& event, const Place& place);
    Row write_cpu(const Event& event, const Place& place);
    void write_counters(Row kernel, const Event& event);
    void put_shape(Row kernel, const Event& event);
    void add_gpu(std::int32_t device, std::string_view name = {});
    void set_duration(Kind kind, Row row, DurNs dur);
    void number_agents();
    void name_processes();
    void mark_cut_durations();
    void add_sample(TimeNs time, std::optional<std::int32_t> device, std::string_view metric, std::string_view unit,
                    double value);

    const PerfettoTrace& trace_;
    Writer writer_;
    Batch& batch_;
    HostPlaces places_;
    std::unordered_map<std::uint64_t, Place> known_;
    std::unordered_map<std::uint64_t, std::vector<Edge>> by_track_;
    std::unordered_map<std::uint64_t, StringId> callers_;    // processes of calls, by flow
    std::set<std::pair<std::uint64_t, TimeNs>> seen_calls_;  // of wprof, which draws a call on two tracks
    std::unordered_map<std::string, StringId> readable_;     // names of kernels, by their mangled forms
    std::set<std::int32_t> devices_, gpu_agents_;
    std::size_t edges_ = 0;
    TimeNs last_ = 0;
};

}  // namespace gpuprof::importers::perfetto
