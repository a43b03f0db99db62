// How late the ticks of a loop were, in constant memory: counts in steps of 10 us up to 20 ms, and the maximum.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/base/ids.h"

namespace gpuprof::inline device {

class Lateness {
public:
    void add(DurNs late) {
        late = std::max<DurNs>(late, 0);
        ++counts_[static_cast<std::size_t>(std::min<DurNs>(late / kStep, kSteps - 1))];
        ++count_;
        max_ = std::max(max_, late);
    }
    std::uint64_t count() const { return count_; }
    double max_ms() const { return static_cast<double>(max_) / 1e6; }
    // The p-th percentile in ms, rounded up to a step; the maximum if it lies beyond the last step. 0 without ticks.
    double percentile_ms(double p) const {
        auto wanted = static_cast<double>(count_) * p / 100;
        std::uint64_t below = 0;
        for (std::size_t step = 0; step + 1 < counts_.size(); ++step) {
            below += counts_[step];
            if (count_ > 0 && static_cast<double>(below) >= wanted)
                return std::min(static_cast<double>((static_cast<DurNs>(step) + 1) * kStep) / 1e6, max_ms());
        }
        return max_ms();
    }

private:
    static constexpr DurNs kStep = 10'000, kSteps = 2001;
    std::array<std::uint32_t, kSteps> counts_{};
    std::uint64_t count_ = 0;
    DurNs max_ = 0;
};

}  // namespace gpuprof::device
