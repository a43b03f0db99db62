// Decimal text to exact integers, as Kineto times need it.
#include "io/importers/kineto/kineto_number.h"

#include <gtest/gtest.h>

#include <string>

namespace gpuprof::kineto {
namespace {

constexpr std::int64_t kUnset = -77;

std::int64_t ns(std::string_view text) {
    std::int64_t value = kUnset;
    EXPECT_EQ(parse_microseconds(text, value), Number::ok) << text;
    return value;
}

TEST(Number, TakesEveryScaleUpToSeconds) {
    std::int64_t value = 0, expected = 1;
    for (int scale = 0; scale <= 9; ++scale, expected *= 10) {
        ASSERT_EQ(parse_decimal("2", scale, value), Number::ok);
        EXPECT_EQ(value, 2 * expected) << scale;
    }
    ASSERT_EQ(parse_decimal("1.234567891", 9, value), Number::ok);
    EXPECT_EQ(value, 1'234'567'891);
}

TEST(Number, MicrosecondsAreExactNanoseconds) {
    EXPECT_EQ(ns("0"), 0);
    EXPECT_EQ(ns("1"), 1000);
    EXPECT_EQ(ns("1.5"), 1500);
    EXPECT_EQ(ns("0.736"), 736);
    EXPECT_EQ(ns("68.0"), 68000);
    EXPECT_EQ(ns("4357513462267.313"), 4357513462267313);
    EXPECT_EQ(ns("1695835542515301"), 1695835542515301000);
    EXPECT_EQ(ns("1695835542515301.999"), 1695835542515301999);
    EXPECT_EQ(ns("-0.001"), -1);
    EXPECT_EQ(ns("9007199254740.993"), 9007199254740993);  // no double has this value
}

TEST(Number, MoreDecimalsRoundHalfAwayFromZero) {
    EXPECT_EQ(ns("0.0004"), 0);
    EXPECT_EQ(ns("0.0005"), 1);
    EXPECT_EQ(ns("0.00049999999999999999999999"), 0);
    EXPECT_EQ(ns("-0.0005"), -1);
    EXPECT_EQ(ns("1.0014999"), 1001);
    EXPECT_EQ(ns("1.0015"), 1002);
    EXPECT_EQ(ns("0.00006"), 0);
    EXPECT_EQ(ns("0.9999999"), 1000);
}

TEST(Number, Exponents) {
    EXPECT_EQ(ns("1e3"), 1000000);
    EXPECT_EQ(ns("1.25E+2"), 125000);
    EXPECT_EQ(ns("1500e-3"), 1500);
    EXPECT_EQ(ns("1.7e15"), 1700000000000000000);
    EXPECT_EQ(ns("4e-4"), 0);
    EXPECT_EQ(ns("5e-4"), 1);
    EXPECT_EQ(ns("5e-99999999999999999999"), 0);
    EXPECT_EQ(ns("0e99999999999999999999"), 0);
    EXPECT_EQ(ns("000000000000000000000000000001.5"), 1500);
}

TEST(Number, TheEdgeOf64Bits) {
    EXPECT_EQ(ns("9223372036854775.807"), INT64_MAX);
    EXPECT_EQ(ns("-9223372036854775.808"), INT64_MIN);
    std::int64_t value = kUnset;
    for (std::string_view text : {"9223372036854775.808", "-9223372036854775.809", "9223372036854775.8075",
                                  "9223372036854776", "9223372036854775807", "99999999999999999999999", "1e16",
                                  "1e999999999999", "18446744073709551.615", "18446744073709551.6155"})
        EXPECT_EQ(parse_microseconds(text, value), Number::out_of_range) << text;
    EXPECT_EQ(value, kUnset);
}

TEST(Number, WhatIsNoNumber) {
    std::int64_t value = kUnset;
    for (std::string_view text : {"NaN", "nan", "Infinity", "-Infinity", "true", "-", "+", ".", "1.2.3", "1e", "1e+",
                                  "12a", "0x10", "1 2", "--1"})
        EXPECT_EQ(parse_microseconds(text, value), Number::bad) << text;
    EXPECT_EQ(parse_microseconds("", value), Number::absent);
    EXPECT_EQ(parse_microseconds("null", value), Number::absent);
    EXPECT_EQ(value, kUnset);
}

// The quick ways answer as the general ones do, or not at all.
TEST(Number, QuickWaysAgree) {
    std::string padding(64, '\xFF');
    for (std::string_view text : {"0",
                                  "7",
                                  "12345678",
                                  "123456789",
                                  "1234567890123456",
                                  "12345678901234567",
                                  "",
                                  "-1",
                                  "1.5",
                                  "00",
                                  "12a",
                                  "0.736",
                                  "1.500",
                                  "4357513462267.313",
                                  "123456789012345.678",
                                  "1234567890123456.789",
                                  ".123",
                                  "-1.234",
                                  "1.23x",
                                  "x.123",
                                  "1,234",
                                  "/",
                                  ":",
                                  "1:",
                                  "1/2"}) {
        std::string padded = std::string(text) + padding;
        std::string_view view(padded.data(), text.size());
        std::int64_t quick = kUnset, general = kUnset;
        if (parse_padded_digits(view, quick)) {
            EXPECT_EQ(parse_integer(text, general), Number::ok) << text;
            EXPECT_EQ(quick, general) << text;
        }
        std::int64_t quick_ns = kUnset, general_ns = kUnset;
        EXPECT_EQ(parse_padded_microseconds(view, quick_ns), parse_microseconds(text, general_ns)) << text;
        EXPECT_EQ(quick_ns, general_ns) << text;
    }
    std::string padded = "4357513462267.313" + padding;
    std::int64_t value = kUnset;
    EXPECT_TRUE(parse_padded_digits(std::string_view(padded).substr(0, 13), value));
    EXPECT_EQ(value, 4357513462267);
}

TEST(Number, Integers) {
    std::int64_t value = kUnset;
    EXPECT_EQ(parse_integer("2560", value), Number::ok);
    EXPECT_EQ(value, 2560);
    EXPECT_EQ(parse_integer("0x1f", value), Number::ok);
    EXPECT_EQ(value, 31);
    EXPECT_EQ(parse_integer("9223372036854775807", value), Number::ok);
    EXPECT_EQ(value, INT64_MAX);
    EXPECT_EQ(parse_integer("-9223372036854775808", value), Number::ok);
    EXPECT_EQ(value, INT64_MIN);
    EXPECT_EQ(parse_integer("18446744073709551615", value, true), Number::ok);
    EXPECT_EQ(value, -1);
    EXPECT_EQ(parse_integer("18446744073709551615", value), Number::out_of_range);
    EXPECT_EQ(parse_integer("0x1ffffffffffffffff", value), Number::bad);
    EXPECT_EQ(parse_integer("0xg", value), Number::bad);
    EXPECT_EQ(parse_integer("5.0", value), Number::ok);
    EXPECT_EQ(value, 5);
}

}  // namespace
}  // namespace gpuprof::kineto
