// Merges two adjacent sorted runs in an array, with extra memory for a copy of the second run only.
#pragma once

#include <cstddef>

#include "core/base/pod_vector.h"

namespace gpuprof::inline facts {

// Merges values[0, middle) and values[middle, size), each sorted by `less`. Stable: equal values of the first run come
// first.
template <class T, class Less>
void merge_tail(PodVector<T>& values, std::size_t middle, Less&& less) {
    if (middle == 0 || middle == values.size() || !less(values[middle], values[middle - 1])) return;
    PodVector<T> tail;
    tail.append(values.data() + middle, values.size() - middle);
    std::size_t head = middle, to = values.size();
    for (std::size_t left = tail.size(); left > 0;) {
        bool take_head = head > 0 && less(tail[left - 1], values[head - 1]);
        values[--to] = take_head ? values[--head] : tail[--left];
    }
}

}  // namespace gpuprof::facts
