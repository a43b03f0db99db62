// Cells of the page of a job: rounded to a thousandth of a usual value, absent where unknown.
#include "present/view/job_pages.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gpuprof {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

TEST(QuantisedCells, AThousandthOfAUsualValueIsKept) {
    QuantisedCells cells = QuantisedCells::of({146e6, 150e6, 147e6}, 1);
    EXPECT_LE(cells.quantum, 146e3);
    EXPECT_GT(cells.quantum, 146e2 / 1.0001 / 10);
    EXPECT_NEAR(cells.values[1] * cells.quantum, 150e6, cells.quantum / 2);
}

TEST(QuantisedCells, UnknownCellsAreAbsentAndZeroIsNot) {
    QuantisedCells cells = QuantisedCells::of({kUnknown, 0, 5}, 1);
    EXPECT_EQ(cells.validity[0], 6U);
    EXPECT_EQ(cells.values[1], 0);
    EXPECT_EQ(cells.quantum, 1);
}

TEST(QuantisedCells, AHugeCellDoesNotOverflow) {
    QuantisedCells cells = QuantisedCells::of({10, 12, 1e18}, 1);
    EXPECT_NEAR(cells.values[2] * cells.quantum, 1e18, cells.quantum);
}

TEST(QuantisedCells, NegativeValuesKeepTheirSign) {
    QuantisedCells cells = QuantisedCells::of({-2000, 2000}, 1);
    EXPECT_EQ(cells.values[0], -cells.values[1]);
    EXPECT_LT(cells.values[0], 0);
}

}  // namespace
}  // namespace gpuprof
