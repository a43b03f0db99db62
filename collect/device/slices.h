// A series of any length in at most 2 x kSlices equal parts of time: when it outgrows them, neighbours are merged. What a
// sparkline is drawn from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"

namespace gpuprof {

class Slices {
public:
    static constexpr std::size_t kSlices = 48;

    // `width` is the length of a part to begin with, > 0.
    explicit Slices(DurNs width) : width_(width) {}
    // Times before the first one are counted with it.
    void add(TimeNs time, double value);
    // Means of at most kSlices parts, from the first time on; absent where a part has no value.
    std::vector<std::optional<double>> means() const;

private:
    struct Part {
        double sum = 0;
        std::uint64_t count = 0;
    };
    void halve();

    DurNs width_;
    bool any_ = false;
    TimeNs origin_ = 0;
    std::vector<Part> parts_;
};

// One block character per mean of 0..100 (eight levels); a blank where there is none.
std::string sparkline(const std::vector<std::optional<double>>& means);

}  // namespace gpuprof
