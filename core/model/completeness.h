// Whether a trace has the work that its calls submitted, and the calls that submitted its work. A recorder rarely
// reports the records that it drops; a launch without its kernel reveals them. Computed by TraceBuilder::finish() once
// calls and device work are linked; never stored in files.
//
// A call nested in another one of its thread (cuLaunchKernel in cudaLaunchKernel) counts with the outer one. Not
// counted are calls during a stream capture (their work runs when the graph is launched), and copies and fills that
// returned too fast to have submitted anything (zero bytes). Calls at the end of a recording whose work was still
// waiting for earlier work, and a few others at both ends, are counted separately.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "core/model/build/submission.h"

namespace gpuprof::inline base {
class StringPool;
}

namespace gpuprof::inline model {

struct Batch;
struct LinkCounts;
struct Links;
struct Tables;

// If more than this share of a process's calls, submitted to an idle device, have no work at the end of a recording,
// that work was not in flight: its records were lost.
inline constexpr double kEdgeShare = 0.01;

struct SubmittedWork {
    std::uint64_t calls = 0;  // that should have work in the trace
    std::uint64_t without_work = 0;
    std::uint64_t at_edge = 0;  // without work, before the first or after the last call with work; not in without_work
};

struct Completeness {
    std::array<SubmittedWork, kSubmissions> of;  // by Submission

    std::uint64_t nodes_missing = 0;             // of graphs: executed by other launches of the same graph
    std::uint64_t graph_launches_unchecked = 0;  // have work, but how much they should have is unknown

    std::uint64_t ops = 0;        // kernels, copies, fills
    std::uint64_t ops_early = 0;  // start before the call that submitted them
    std::uint64_t kernels = 0, kernels_of_no_time = 0;
    std::uint64_t ops_before_calls = 0;   // submitted before the first recorded call of their process
    std::uint64_t ops_without_call = 0;   // others whose call was not recorded although calls of their process were
    std::uint64_t ops_uncheckable = 0;    // of processes without recorded calls, or without a correlation id
    std::uint64_t calls_uncheckable = 0;  // that submit work but have no correlation id
    bool endless_capture = false;         // a stream capture began but its end was not recorded
    bool measured_instead = false;        // counters of kernels were collected, and device work was not recorded

    const SubmittedWork& operator[](Submission kind) const { return of[static_cast<std::size_t>(kind)]; }
    std::uint64_t calls() const;
    std::uint64_t without_work() const;
    std::uint64_t at_edge() const;
    // Known share of missing work, 0..1: a lower bound, because a graph launch without nodes counts as one.
    double missing_share() const;
    // Why completeness cannot be determined; "" if it was checked.
    std::string unknown_because() const;
};

// For closed tables, calls sorted by start. Skips what the recorder itself dropped and counted
// (facts.h). In two parts, of which the first reads neither times of device work nor the order of its rows, so these may change at the same time
// and until the second.
class CompletenessCheck {
public:
    CompletenessCheck(const Tables& tables, const Links& links, const StringPool& strings);
    ~CompletenessCheck();
    void read_calls();
    Completeness result();

private:
    class Check;
    std::unique_ptr<Check> check_;
};

// Counts what is missing as losses.
void lose_missing_work(const LinkCounts& links, const Completeness& complete, Batch& losses);

}  // namespace gpuprof::model
