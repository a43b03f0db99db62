// Slices are what was added, whatever their values and however many.
#include "present/view/slices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

namespace gpuprof {
namespace {

auto fields(const Slice& slice) { return std::tuple(slice.start, slice.dur, slice.name, slice.row); }

TEST(Slices, AreWhatWasAdded) {
    std::mt19937_64 random(7);
    for (std::size_t count : {0, 1, 127, 128, 129, 256, 1000})
        for (int bits : {0, 1, 8, 9, 31, 33, 63}) {
            auto pick = [&](int most) {
                return bits == 0 ? 0 : static_cast<std::int64_t>(random() >> (64 - std::min(bits, most)));
            };
            std::vector<Slice> added;
            Slices slices;
            for (std::size_t i = 0; i < count; ++i) {
                Slice slice{pick(63) - pick(62), pick(63), StringId{static_cast<std::uint32_t>(pick(32))},
                            static_cast<Row>(pick(32))};
                if (i % 5 == 0) slice.name = kNoString;
                if (i % 7 == 0) slice.row = kNoRow;
                added.push_back(slice);
                slices.push_back(slice);
            }
            ASSERT_EQ(slices.size(), count);
            std::size_t at = 0;
            for (const Slice& slice : slices) ASSERT_EQ(fields(slice), fields(added[at++]));
            ASSERT_EQ(at, count);
            for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(fields(slices[i]), fields(added[i]));
            for (std::size_t first = 0; first < count; first += 97)
                ASSERT_EQ(fields(*slices.at(first)), fields(added[first]));
        }
}

// Of a kernel every few microseconds, a slice takes less than 10 bytes.
TEST(Slices, TakeAThirdOfTheMemory) {
    std::mt19937 random(7);
    Slices slices;
    TimeNs at = 40'000'000'000;
    constexpr std::size_t kSlices = 12'800;
    for (std::size_t i = 0; i < kSlices; ++i) {
        auto dur = static_cast<DurNs>(random() % 20'000);
        slices.push_back({at, dur, StringId{static_cast<std::uint32_t>(random() % 200)}, static_cast<Row>(i)});
        at += dur + static_cast<DurNs>(random() % 2000);
    }
    EXPECT_LT(slices.bytes(), kSlices * 10);
}

}  // namespace
}  // namespace gpuprof
