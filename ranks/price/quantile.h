// The value below which a share of the values lie: an element, never an interpolation. Of one half, the median; of an even
// number of values, the upper one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gpuprof::inline ranks {

// T{} without values.
template <class T>
T quantile_of(std::vector<T> values, double share) {
    if (values.empty()) return T{};
    auto last = static_cast<double>(values.size() - 1);
    auto at =
        values.begin() + std::min(static_cast<std::ptrdiff_t>(share * last + 0.5), static_cast<std::ptrdiff_t>(last));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

template <class T>
T median_of(std::vector<T> values) {
    return quantile_of(std::move(values), 0.5);
}

}  // namespace gpuprof::ranks
