// Adds up what one recorded process wrote (core/format/spool.h), chunk by chunk, in fixed memory. Unlike the importer it makes no
// rows: records are counted when they come, and their times wait in a sorted window until records of later times have come from
// every stream; then a sweep adds them to the busy and idle time of their device.
//
// Late records of up to kWindow are in order again after the window. What comes even later is counted in the totals of its kernel
// or copy, but not in busy and idle time; DeviceTotal::late says how often. Several processes on one device have a busy time each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/aggregate/totals.h"
#include "core/format/chunk_reader.h"
#include "core/format/cupti_records.h"
#include "core/format/spool.h"

namespace gpuprof::inline cli {

struct OpFields;

// An op on a device.
struct SweptOp {
    enum Kind : std::uint8_t { compute, collective, copy };
    TimeNs start = 0, end = 0;
    TimeNs launched = 0;  // start of its call; 0: not known (yet)
    TimeNs waited = 0;    // end of the last call before it, on the same thread, that waited for the device; 0: none
    std::uint32_t call = 0;
    Kind kind = compute;
    std::uint8_t phase = RankTotals::kUnknownPhase;  // of the launch
    std::int32_t device = 0;
    std::uint32_t kernel = kNoKernel;  // in RankTotals::kernels
    static constexpr std::uint32_t kNoKernel = ~std::uint32_t{0};
};

// The calls that launched something, by their correlation id. A direct-mapped table: a later call takes the place of one that is a
// multiple of the size earlier. It grows while calls are replaced before their work can have come.
class LaunchCalls {
public:
    LaunchCalls() : calls_(std::size_t{1} << 12) {}
    void add(std::uint32_t id, TimeNs start, TimeNs waited);
    void set_phase(std::uint32_t id, std::uint8_t phase);
    // Whether the call is known; then its times are set.
    bool find(SweptOp& op) const;

private:
    struct Call {
        TimeNs start = 0, waited = 0;
        std::uint32_t id = 0;
        std::uint8_t phase = RankTotals::kUnknownPhase;
    };
    static constexpr std::size_t kMost = std::size_t{1} << 18;
    std::vector<Call> calls_;
};

// The ops of one device in order of their starts.
class DeviceSweep {
public:
    static constexpr DurNs kWindow = 2'000'000'000;
    static constexpr std::size_t kMostWaiting = std::size_t{1} << 17;

    void add(const SweptOp& op, const LaunchCalls& calls, RankTotals& of);
    // Adds the ops that started before `until`.
    void sweep(TimeNs until, const LaunchCalls& calls, RankTotals& of, DeviceTotal& total);
    // After the last op.
    void finish(DeviceTotal& total);
    TimeNs latest() const { return latest_; }

private:
    void take(const SweptOp& op, DeviceTotal& total);

    std::vector<SweptOp> waiting_;
    std::size_t sorted_ = 0;              // of these, from the front
    TimeNs latest_ = 0;                   // start
    TimeNs at_ = 0;                       // everything before is counted
    std::array<TimeNs, 3> busy_until_{};  // by kind
};

// In which phase of a program a kernel was launched: the name of the innermost NVTX range (push and pop) around the launch on its thread,
// without a number at its end. Only RankTotals::kMostPhases names are phases, the first ones that launch something; a launch in another range
// belongs to the innermost phase around that, or to none of them. Memory is bounded: 4,096 paths of nested ranges, and a quarter of a million changes
// of 16 threads.
class RangePhases {
public:
    RangePhases() : paths_(1) {}
    void add(std::uint32_t thread, const spool::HostEvent& event, std::string_view text);
    // Annotations are missing: the open ranges are unknown.
    void interrupt();
    // By CLOCK_REALTIME. A number of RankTotals::phases, to which it may add one.
    std::uint8_t at(std::uint32_t thread, TimeNs time, RankTotals& of);

private:
    using Path = std::uint32_t;  // in paths_; 0: no range
    static constexpr std::uint8_t kNotResolved = 255;
    struct RangePath {
        Path outer = 0;
        std::uint32_t name = 0;  // in texts_
        std::uint8_t phase = kNotResolved;
    };
    struct Thread {
        std::vector<std::pair<std::uint64_t, Path>> open = {};  // domain and path
        std::deque<std::pair<TimeNs, Path>> changes = {};
        bool complete = true;  // nothing before the first change is missing
    };
    bool forget_a_thread();
    Path inside(Path outer, std::uint32_t name);
    std::uint32_t name_of(std::string_view text);

    std::vector<RangePath> paths_;
    std::unordered_map<std::uint64_t, Path> inner_;  // by path and name
    std::vector<std::string> texts_;
    std::unordered_map<std::string, std::uint32_t> names_;
    std::unordered_map<std::uint64_t, std::uint32_t> registered_;  // by handle
    std::unordered_map<std::uint32_t, Thread> threads_;
    std::size_t changes_ = 0;  // of all threads
    bool interrupted_ = false;
};

class ProcessTotals {
public:
    explicit ProcessTotals(JobTotals& job) : job_(&job) {}
    void take(const RawChunk& chunk);
    // After each part; `last`: after the last one.
    void sweep(bool last);

private:
    struct Name {
        std::uint64_t hash = 0;  // of the text
        bool collective = false;
        std::string text = {};
        std::vector<std::size_t> places = {};  // in RankTotals::kernels, by device; kNoPlace: not looked up
    };
    enum class Call : std::uint8_t { other, launch, wait };

    void take_process(std::string_view payload);
    void take_names(std::string_view payload);
    void take_activity(std::string_view payload);
    void take_clock(std::string_view payload);
    void take_facts(std::string_view payload);
    void take_lost(std::string_view payload);
    void take_host_events(std::string_view payload);
    void take_record(const cupti::Record& record);
    void take_call(const cupti::Record& record, std::uint8_t space);
    std::optional<SweptOp> op_in(const cupti::Record& record, const OpFields& fields);
    void add_kernel(Name& name, SweptOp op);
    void add_graph(std::uint32_t graph, const std::optional<SweptOp>& op);
    void add_copy(std::string_view kind, std::uint64_t bytes, const std::optional<SweptOp>& op);
    void add_device(const cupti::Record& record);
    void find_phases();
    void lose(const char* reason, std::uint64_t count = 1) { totals().lost[reason] += count; }
    RankTotals& totals() { return job_->ranks[rank_]; }

    JobTotals* job_;
    std::size_t rank_ = 0;         // in JobTotals::ranks
    std::string first_part_ = {};  // "": the process chunk has not come
    std::uint64_t next_part_ = 0;
    std::uint32_t recorder_thread_ = 0;
    TimeNs clock_ = 0;       // the last reading, of CUPTI's clock if it has one
    DurNs clock_ahead_ = 0;  // of CUPTI's clock, before CLOCK_REALTIME
    RangePhases phases_ = {};
    struct NewCall {
        std::uint32_t id, thread;
        TimeNs start;
    };
    std::vector<NewCall> new_calls_ = {};  // of this part; annotations may be behind the records of the calls in them
    std::unordered_map<std::uint64_t, Name> names_;
    std::unordered_map<std::uint64_t, Call> functions_;  // space and callback id
    std::unordered_map<std::uint32_t, TimeNs> waits_;    // by thread: the end of the last one
    std::unordered_map<std::uint64_t, Name> graphs_;
    std::map<std::int32_t, DeviceSweep> devices_;
    LaunchCalls calls_;
    std::map<std::uint8_t, std::uint64_t> lost_;  // as the library counted, by spool::Lost
};

}  // namespace gpuprof::cli
