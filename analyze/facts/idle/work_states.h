// What each device was doing at any time, as a partition of the window: the set of classes of work in flight (kernel
// classes, memcpy, memset), or idle. Sets, not classes, because power does not add up: a copy that overlaps a matrix
// product costs less than alone. Sets that take little time share one state, "everything else".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/facts/device_op.h"
#include "core/model/interval.h"

namespace gpuprof::inline facts {

class Facts;

class WorkStates {
public:
    // Of one device.
    WorkStates(const Facts& facts, std::int32_t device);

    // Names; state 0 is idle. "gemm", "gemm + memcpy", "everything else".
    const std::vector<std::string>& names() const { return names_; }
    std::size_t size() const { return names_.size(); }
    Interval window() const { return window_; }
    // Adds the seconds of each state in `within`, clipped to the window, to `to`.
    void add_seconds(Interval within, std::vector<double>& to) const;
    std::vector<double> seconds_in(Interval within) const;
    // How often each state began.
    const std::vector<std::uint64_t>& counts() const { return counts_; }

private:
    struct Stretch {
        TimeNs start;
        std::uint32_t state;
    };
    void append(TimeNs start, std::uint32_t set);
    void name_states();
    void add_until(TimeNs at, double sign, std::vector<double>& to) const;

    Interval window_;
    std::vector<Stretch> stretches_;  // disjoint, without gaps, up to the end of the window
    std::vector<std::string> names_;
    std::vector<std::uint64_t> counts_;
    std::vector<double> totals_;  // seconds by state, before every kCheckpoint-th stretch
};

}  // namespace gpuprof::facts
