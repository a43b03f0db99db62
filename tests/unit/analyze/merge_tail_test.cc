// Merging in place against std::stable_sort, with equal keys that must keep their runs' order.
#include "analyze/facts/merge_tail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace gpuprof {
namespace {

struct Keyed {
    int key, origin;
    bool operator==(const Keyed&) const = default;
};

TEST(MergeTail, IsAStableSortOfTwoRuns) {
    std::mt19937 random(3);
    auto less = [](const Keyed& a, const Keyed& b) { return a.key < b.key; };
    for (std::size_t round = 0; round < 500; ++round) {
        std::size_t size = random() % 20, middle = size == 0 ? 0 : random() % (size + 1);
        std::vector<Keyed> values(size);
        for (std::size_t i = 0; i < size; ++i) values[i] = {static_cast<int>(random() % 8), static_cast<int>(i)};
        auto split = values.begin() + static_cast<std::ptrdiff_t>(middle);
        std::stable_sort(values.begin(), split, less);
        std::stable_sort(split, values.end(), less);
        PodVector<Keyed> merged;
        merged.append(values.data(), values.size());
        merge_tail(merged, middle, less);
        std::stable_sort(values.begin(), values.end(), less);
        ASSERT_TRUE(std::equal(values.begin(), values.end(), merged.begin(), merged.end())) << round;
    }
}

}  // namespace
}  // namespace gpuprof
