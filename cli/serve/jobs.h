// The snapshots of `record --aggregate` in a folder, for Prometheus and as pprof profiles. What a snapshot says grows, so do the
// counters here, also if this server is started again: it keeps nothing but the profiles of the last two minutes. The number of series
// is bounded: 50 kernels per rank and device have their own, and the rest is "(other)". A snapshot that has not been written for
// five minutes is omitted.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/aggregate/totals.h"
#include "cli/serve/containers.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

class JobPages {
public:
    static constexpr DurNs kMostProfile = 120'000'000'000;

    explicit JobPages(std::string folder) : folder_(std::move(folder)) {}
    // Reads the snapshots that have changed. Call it once a second.
    void look(TimeNs now);
    // Why the folder cannot be read, or "".
    const std::string& problem() const { return problem_; }
    // The pods of the jobs.
    std::vector<Place> places() const;
    // Lines of the text format 0.0.4. `names`: of pods, or null.
    std::string exposition(TimeNs now, const PodNames* names) const;
    // What the kernels of the last `length` ran, or of all the time if it is 0. gzip.
    Result<std::string> profile(DurNs length, TimeNs now) const;

private:
    struct Moment {
        TimeNs written = 0;
        std::map<std::string, std::pair<std::uint64_t, DurNs>> kernels =
            {};  // by rank, device and name: count and time
    };
    struct Snapshot {
        std::pair<std::int64_t, std::int64_t> version{};  // inode and time of the file
        std::string recorder = {};                        // the file's name without its ending
        JobTotals totals = {};
        std::deque<Moment> past = {};
    };
    static Moment moment_of(const JobTotals& totals);
    bool alive(const Snapshot& snapshot, TimeNs now) const;

    std::string folder_, problem_;
    std::map<std::string, Snapshot> snapshots_;  // by file name
};

}  // namespace gpuprof::cli
