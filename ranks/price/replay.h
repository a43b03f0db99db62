// The job as a graph of collectives, replayed with other times: before each collective a rank does its own work since
// the one that it waited for last, and its host launches it; a collective begins when its last rank arrives.
// Unexplained gaps of a rank count as zero in every replay: they may hide a wait for something that was not recorded.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/facts/facts.h"
#include "core/model/interval.h"
#include "ranks/clocks/clocks.h"
#include "ranks/job/job.h"
#include "ranks/match/match.h"

namespace gpuprof::inline ranks {

// What a replay varies, by collective.
struct JobTimes {
    std::vector<DurNs>
        own;  // the rank's work from the end of what it follows to its arrival; else since the step began
    std::vector<DurNs> transfer;  // from the last arrival to its end; of one that did not wait, from its own arrival
    std::vector<std::uint32_t> follows;  // the collective whose end `own` counts from; kNone: none
    // Where a rank's work waits for a collective, it has done this since the end of another one, or since the step began. What
    // follows the collective comes after this as well.
    std::vector<DurNs> overlapped;
    std::vector<std::uint32_t> wait_before;  // that other one; kNone: none
    std::vector<DurNs> lead;  // no collective begins before its launch, which the host does this long after
    std::vector<std::uint32_t> waited_for;  // the end of this collective; kNone: not recorded
};

// The length of each step from the ends of steps: it begins with the end of the one before, or, if that one was not read,
// where it began itself; `begins` is 0 otherwise.
std::vector<DurNs> lengths_of(const std::vector<TimeNs>& ends, const std::vector<TimeNs>& begins);

// What the transfer of a collective took: until its first end. Later ends may have waited for a rank's own work.
DurNs least_transfer(const MatchedJob& matched, const Instance& instance, const JobTimes& times);

// An order in which every collective comes after those that its ranks waited for. The kernel of an exchange arrives and
// ends apart from its partners: in between, these may arrive, end, and begin others.
struct ReplayOrder {
    enum class What : std::uint8_t { collective, arrival, end };
    struct Node {
        std::uint32_t first, count;  // in members; of an exchange's end, it and those that it waits for
        What what = What::collective;
    };
    std::vector<Node> nodes;  // instances, and collectives that are alone
    std::vector<std::uint32_t> members;
};

struct JobReplay {
    JobTimes recorded;
    std::vector<Interval> common;      // each collective on the common clock
    std::vector<TimeNs> last_arrival;  // by instance, on the common clock
    std::vector<bool> waits;           // by collective: it ended after the last rank had arrived
    std::vector<TimeNs> ends;          // of each step as it was recorded, as run() gives them
    ReplayOrder order;                 // of the recording

    static JobReplay make(const Facts& facts);

    // Whether a member's arrival counts. A small message is sent before its receiver arrives: an exchange does not wait
    // for those that came after its end.
    bool awaits(const MatchedJob& matched, const Instance& instance, std::uint32_t member) const {
        return !instance.exchange || common[member].start <= common[matched.members[instance.first]].end;
    }

    // For replays in which collectives may follow or wait for what they do in `others` instead.
    ReplayOrder order_with(const Job& job, const MatchedJob& matched, const JobTimes& others) const;
    // When each step ended, by index in Job::steps, from the start of the job; the last entry of a job without
    // steps is its end. `by`: the order of the recording, or one that also holds for these times.
    std::vector<TimeNs> run(const JobTimes& times, const ReplayOrder& by) const;
    std::vector<DurNs> lengths(const std::vector<TimeNs>& step_ends) const;
    // Of the counted steps.
    double mean_of(const std::vector<DurNs>& step_lengths) const;
    // Indices of steps that most ranks recorded and whose collectives were read, without those that were read only
    // because others begin in them; and, if enough are left, without doubtful ones: those that only some ranks begin with, or in
    // which a clock was set.
    std::vector<std::size_t> counted() const;
    bool has_doubtful_steps() const;

private:
    void find_begins(const Job& job);
    void find_doubtful(const Job& job, const AlignedClocks& clocks);

    std::vector<std::uint32_t> before_;       // as Job::Collective::before
    std::vector<TimeNs> start_;               // of the work before a collective that follows nothing
    std::vector<std::uint32_t> step_of_;      // index of the step
    std::vector<TimeNs> begins_;              // of each step, if it depends on no other; else 0
    std::vector<std::uint32_t> recorded_by_;  // by step: ranks
    std::vector<bool> read_, linked_;         // by step: it has collectives; one of them follows another step
    std::vector<bool> doubtful_;              // by step: see find_doubtful()
    std::size_t steps_ = 0;
};

// The critical path of one step over ranks: what makes it as long as it is.

// A piece of the critical path of a step: a rank's own work before it arrives, or the transfer after it, on the common
// clock.
struct PathPiece {
    std::uint32_t rank = 0;
    Interval time;
    bool transfer = false;
};

// From the last end of the step back to `begin`, a time of the common clock: at a collective to the rank that arrived
// last, else to what the rank did before. In the order of time. Where two arrivals are closer than the error of their
// clocks, the later one is taken.
std::vector<PathPiece> critical_path(const Facts& facts, std::int64_t step, TimeNs begin);

}  // namespace gpuprof::ranks
