// Decides when a function has warmed up. Compilers, autotuners, allocators and clocks slow the first calls, and their
// number is unknown in advance. A small state machine, fed the time of one call at a time: it forms windows of a few
// calls, and the warm-up ends when the medians of two consecutive windows agree, twice in a row. It ends unsettled at
// the maximum time.
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

struct WarmupResult {
    std::size_t calls = 0;
    DurNs time = 0;
    double first_ns = 0;  // the first call
    double last_ns = 0;   // median of the last window: the estimate of later calls
    bool settled = false;
};

class Warmup {
public:
    explicit Warmup(const WarmupOptions& options) : options_(options) {}
    // One call took `ns`; `elapsed` is the time since the warm-up began.
    void add(double ns, DurNs elapsed);
    bool over() const { return over_; }
    const WarmupResult& seen() const { return seen_; }

private:
    void close_window();

    WarmupOptions options_;
    WarmupResult seen_;
    std::vector<double> window_;
    double previous_ = 0, previous_spread_ = 0;  // median and interquartile range of the previous window
    int agreements_ = 0;
    bool has_previous_ = false, over_ = false;
};

}  // namespace gpuprof::measure
