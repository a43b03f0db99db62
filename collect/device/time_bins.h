// A series of any length in at most 2 x kBins equal time slices: when it exceeds them, neighbours are merged. The
// data of a sparkline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"

namespace gpuprof::inline device {

class TimeBins {
public:
    static constexpr std::size_t kBins = 48;

    // `width` is the initial length of a slice, > 0.
    explicit TimeBins(DurNs width) : width_(width) {}
    // Earlier times count towards the first slice.
    void add(TimeNs time, double value);
    // Means of at most kBins slices from the first time; absent for a slice without a value.
    std::vector<std::optional<double>> means() const;

private:
    struct Bin {
        double sum = 0;
        std::uint64_t count = 0;
    };
    void halve();

    DurNs width_;
    bool any_ = false;
    TimeNs origin_ = 0;
    std::vector<Bin> bins_;
};

// One block character per mean of 0..100 (eight levels); a blank if it is absent.
std::string sparkline(const std::vector<std::optional<double>>& means);

}  // namespace gpuprof::device
