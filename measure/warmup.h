// When a function has warmed up: compilers, autotuners, allocators and clocks make the first calls slow, and how many is not
// known beforehand. A small state machine, fed the time of one call at a time: windows of a few calls, and the warm-up is over
// when the medians of two windows that follow each other agree, twice running. It ends unsettled at the longest time.
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/ids.h"

namespace gpuprof::measure {

struct WarmupOptions {
    DurNs min_time = 25'000'000, max_time = 3'000'000'000;
    std::size_t window = 5;
    double tolerance = 0.02;  // medians agree within this share, or within the scatter inside the windows
};

struct WarmupSeen {
    std::size_t calls = 0;
    DurNs time = 0;
    double first_ns = 0;  // the first call
    double last_ns = 0;   // median of the last window: the estimate for what follows
    bool settled = false;
};

class Warmup {
public:
    explicit Warmup(const WarmupOptions& options) : options_(options) {}
    // One call took `ns`, and `elapsed` went by since the warm-up began.
    void add(double ns, DurNs elapsed);
    bool over() const { return over_; }
    const WarmupSeen& seen() const { return seen_; }

private:
    void close_window();

    WarmupOptions options_;
    WarmupSeen seen_;
    std::vector<double> window_;
    double previous_ = 0, previous_spread_ = 0;  // median and interquartile range of the window before
    int agreements_ = 0;
    bool has_previous_ = false, over_ = false;
};

}  // namespace gpuprof::measure
