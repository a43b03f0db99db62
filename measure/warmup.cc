#include "measure/warmup.h"

#include <algorithm>
#include <cmath>

#include "measure/statistics.h"

namespace gpuprof::measure {

void Warmup::close_window() {
    std::sort(window_.begin(), window_.end());
    double median = percentile_of(window_, 50), spread = percentile_of(window_, 75) - percentile_of(window_, 25);
    if (has_previous_) {
        // The smaller scatter, because falling times are scattered too.
        double allowed = std::max(options_.tolerance * previous_, std::min(spread, previous_spread_));
        agreements_ = std::abs(median - previous_) <= allowed ? agreements_ + 1 : 0;
    }
    previous_ = median, previous_spread_ = spread, has_previous_ = true;
    seen_.last_ns = median;
    window_.clear();
}

void Warmup::add(double ns, DurNs elapsed) {
    constexpr int kRequiredAgreements = 2;
    if (seen_.calls++ == 0) seen_.first_ns = seen_.last_ns = ns;
    seen_.time = elapsed;
    window_.push_back(ns);
    if (window_.size() >= options_.window) close_window();
    seen_.settled = agreements_ >= kRequiredAgreements;
    over_ = elapsed >= options_.max_time || (seen_.settled && elapsed >= options_.min_time);
    // Calls after the last full window are newer than its median.
    if (over_ && !has_previous_) {
        std::sort(window_.begin(), window_.end());
        seen_.last_ns = percentile_of(window_, 50);
    }
}

}  // namespace gpuprof::measure
