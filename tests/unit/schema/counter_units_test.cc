#include "core/schema/counter_units.h"

#include <gtest/gtest.h>

namespace gpuprof::test {
namespace {

void expect_unit(std::string_view unit, double factor, std::string_view name) {
    auto base = base_unit_of(unit);
    ASSERT_TRUE(base) << unit;
    EXPECT_DOUBLE_EQ(base->factor, factor) << unit;
    EXPECT_EQ(base->name, name) << unit;
}

TEST(CounterUnits, OldAndNewNamesMeanTheSame) {
    for (std::string_view giga : {"Ghz", "cycle/nsecond", "cycle/ns"}) expect_unit(giga, 1e9, "hz");
    for (std::string_view mega : {"Mhz", "cycle/usecond", "cycle/us"}) expect_unit(mega, 1e6, "hz");
    for (std::string_view one : {"hz", "cycle/second", "cycle/s"}) expect_unit(one, 1, "hz");
    for (std::string_view giga : {"Gbyte/s", "Gbyte/second", "byte/ns", "byte/nsecond"})
        expect_unit(giga, 1e9, "byte/s");
    for (std::string_view milli : {"ms", "msecond"}) expect_unit(milli, 1e6, "ns");
    expect_unit("sector/usecond", 1e6, "sector/s");
}

TEST(CounterUnits, RatiosKeepWhatTheyArePer) {
    expect_unit("Kbyte/block", 1e3, "byte/block");
    expect_unit("inst/cycle", 1, "inst/cycle");
    expect_unit("register/thread", 1, "register/thread");
    expect_unit("%/Kbyte", 1e-3, "%/byte");
    expect_unit("", 1, "");
}

TEST(CounterUnits, UnknownPartsAreUnknown) {
    for (std::string_view unit : {"fortnight", "cycle/moon", "moon/cycle", "cycle/", "/ns", "byte/block/cycle", "GHZ"})
        EXPECT_FALSE(base_unit_of(unit)) << unit;
}

}  // namespace
}  // namespace gpuprof::test
