// Running totals of a job, as `record --aggregate` keeps them and writes them into a snapshot, and as `serve --jobs` reads them.
// Their size is bounded whatever names come: beyond kMaxNames names, or kMaxNameBytes of them, kernels count as "(other)" of their
// device. Every sum only grows, also when a recorder continues from the snapshot of an earlier one.
//
// A snapshot is one JSON object, below 1 MB, replaced by rename. Durations are histograms with eight buckets per octave: pairs
// [edge, count] of the durations up to 2^(edge/8) ns that are above 2^((edge-1)/8) ns. This is schema 3 of Prometheus' native
// histograms and scale 3 of OpenTelemetry's exponential ones.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

class Durations {
public:
    static constexpr int kPerOctave = 8, kEdges = 63 * kPerOctave + 1;

    void add(DurNs each, std::uint64_t times = 1) { counts_at(edge_of(each)) += times; }
    void add_at(int edge, std::uint64_t times) { counts_at(edge) += times; }
    // The number of the upper edge of the bucket of a duration, which is not negative.
    static int edge_of(DurNs each);
    // Calls visit(edge, count) for each bucket that is not empty, in order.
    template <class Visit>
    void each(Visit&& visit) const {
        for (std::size_t i = 0; i < counts_.size(); ++i)
            if (counts_[i] > 0) visit(first_ + static_cast<int>(i), counts_[i]);
    }

private:
    std::uint64_t& counts_at(int edge);

    int first_ = 0;  // the edge of the first bucket
    std::vector<std::uint64_t> counts_;
};

struct DurationTotal {
    std::uint64_t count = 0;
    DurNs total = 0, shortest = 0, longest = 0;
    Durations durations;

    void add(DurNs each) {
        shortest = count == 0 ? each : std::min(shortest, each);
        longest = std::max(longest, each);
        ++count;
        total += each;
        durations.add(each);
    }
};

// Of one kernel in one phase.
struct PhaseTotal {
    std::uint8_t phase = 0;  // in RankTotals::phases
    std::uint64_t count = 0;
    DurNs total = 0;
};

struct KernelTotal {
    std::string name;
    std::int32_t device = 0;
    DurationTotal runs = {};
    std::vector<PhaseTotal> phases = {};  // up to two seconds later than `runs`, because launches may come later
    // Prometheus shows it in a series of its own, and as "(other)" what it had before.
    bool shown = false;
    std::uint64_t count_before = 0;
    DurNs total_before = 0;
};

struct CopyTotal {
    std::string kind;
    std::int32_t device = 0;
    std::uint64_t count = 0, bytes = 0;
    DurNs total = 0;
};

// Why a device was idle between two ops, by the launch of the second one.
enum class Gap : std::uint8_t {
    host_late,    // launched after the gap began
    host_waited,  // the same, and the launching thread returned from a call that waits for the device within the gap
    queued,       // launched before the gap began: it waited for something else
    unknown,      // the launch was not recorded
};
inline constexpr std::size_t kGaps = 4;
inline constexpr std::array<std::string_view, kGaps> kGapNames{"host late", "host waited", "queued", "unknown"};

struct DeviceTotal {
    std::int32_t device = 0;
    std::string uuid = {};
    DurNs busy = 0, collective = 0, exposed_collective = 0;
    std::array<DurNs, kGaps> idle{};
    Durations gaps = {};
    std::uint64_t late = 0;  // ops that came after the time around them had been counted; not in busy and idle
};

// Of the processes of one rank that one recorder started.
struct RankTotals {
    std::optional<std::int64_t> rank = {};
    std::string job = {};
    std::uint64_t processes = 0;
    std::vector<KernelTotal> kernels = {};
    std::vector<CopyTotal> copies = {};
    std::vector<DeviceTotal> devices = {};
    DurationTotal steps = {};
    std::map<std::string, std::uint64_t> lost = {};            // records or parts, by reason
    std::unordered_map<std::string, std::size_t> places = {};  // of kernels, by device and name

    // Of kernels, by the range in which they were launched (RangePhases). The first ones stand for no range, for ranges that are no phase, and for
    // launches that were not recorded.
    static constexpr std::uint8_t kNoPhase = 0, kOtherPhase = 1, kUnknownPhase = 2;
    static constexpr std::size_t kMostPhases = 16, kMostPhaseTotals = 4096;  // further totals are those of kOtherPhase
    std::vector<std::string> phases = {"(none)", "(other)", "(unknown)"};
    std::size_t phase_totals = 0;

    // Its number; kOtherPhase if it is none, and cannot become one or is not `to_be_added`.
    std::uint8_t phase(std::string_view name, bool to_be_added);
    void add_phase(KernelTotal& kernel, std::uint8_t phase, std::uint64_t count, DurNs took);
    DeviceTotal& device(std::int32_t number);
    std::size_t copy(std::string_view kind, std::int32_t device);
};

struct JobTotals {
    static constexpr std::size_t kMaxNames = 2048, kMaxNameBytes = 400'000, kMaxOneName = 1024, kShown = 50;
    static constexpr std::size_t kMaxRanks = 256;
    static constexpr std::string_view kOther = "(other)";

    std::string host = {};
    std::string pod_uid = {}, pod_namespace = {}, pod = {},
                container = {};       // of the recorder in Kubernetes, as far as it knows
    TimeNs started = 0, written = 0;  // CLOCK_REALTIME
    DurNs recorder_cpu = 0;
    bool ended = false;
    std::vector<RankTotals> ranks = {};

    // Beyond kMaxRanks, those of the last one.
    RankTotals& rank(std::optional<std::int64_t> number, std::string_view job);
    // The place of a kernel in RankTotals::kernels.
    std::size_t kernel(RankTotals& of, std::string_view name, std::int32_t device);
    // Chooses which kernels Prometheus shows. Those that it showed stay.
    void choose_shown();

private:
    std::size_t names_ = 0, name_bytes_ = 0;
};

std::string encode(const JobTotals& totals);
Result<JobTotals> parse_job_totals(std::string_view text);

}  // namespace gpuprof::cli
