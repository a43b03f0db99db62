#include "core/base/text/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/text/utf8.h"

namespace gpuprof {
namespace {

template <class Write>
std::string written(std::size_t depth, Write&& write) {
    StringSink sink;
    JsonWriter json(sink, depth);
    write(json);
    return sink.text();
}

TEST(JsonWriter, separates_and_nests) {
    std::string text = written(0, [](JsonWriter& json) {
        json.begin_object();
        json.member("a", std::int64_t{1});
        json.key("b");
        json.begin_array();
        json.null();
        json.boolean(false);
        json.begin_object();
        json.end_object();
        json.end_array();
        json.end_object();
    });
    EXPECT_EQ(text, "{\"a\": 1, \"b\": [null, false, {}]}\n");
}

TEST(JsonWriter, breaks_lines_down_to_its_depth) {
    std::string text = written(1, [](JsonWriter& json) {
        json.begin_array();
        json.begin_array();
        json.integer(1);
        json.integer(2);
        json.end_array();
        json.integer(3);
        json.end_array();
    });
    EXPECT_EQ(text, "[\n [1, 2],\n 3\n]\n");
}

TEST(JsonWriter, strings_are_valid_whatever_they_hold) {
    auto quoted = [](std::string_view value) {
        return written(0, [&](JsonWriter& json) { json.begin_array(), json.text(value), json.end_array(); });
    };
    EXPECT_EQ(quoted("\"\\\n\x01λ"), "[\"\\\"\\\\\\n\\u0001λ\"]\n");
    EXPECT_EQ(quoted(std::string_view("\0", 1)), "[\"\\u0000\"]\n");
    EXPECT_EQ(quoted("a\xC3"), "[\"a\xEF\xBF\xBD\"]\n");
}

TEST(JsonWriter, reals_read_back_equal_and_look_real) {
    auto shown = [](double value) {
        return written(0, [&](JsonWriter& json) { json.begin_array(), json.real(value), json.end_array(); });
    };
    EXPECT_EQ(shown(3), "[3.0]\n");
    EXPECT_EQ(shown(0.1), "[0.1]\n");
    EXPECT_EQ(shown(1e300), "[1e+300]\n");
    EXPECT_EQ(shown(std::nan("")), "[null]\n");
    EXPECT_EQ(shown(-std::numeric_limits<double>::infinity()), "[null]\n");
}

// The example of the Unicode standard, table 3-8 (maximal subparts).
TEST(Utf8, broken_pieces_become_replacements) {
    EXPECT_EQ(valid_utf8("a\xF1\x80\x80\xE1\x80\xC2"
                         "b\x80"
                         "c\x80\xBF"
                         "d"),
              "a\uFFFD\uFFFD\uFFFD"
              "b\uFFFD"
              "c\uFFFD\uFFFD"
              "d");
}

TEST(Utf8, every_code_point_survives) {
    for (char32_t value = 0; value <= 0x10FFFF; ++value) {
        if (value >= 0xD800 && value <= 0xDFFF) continue;
        std::string text;
        append_utf8(text, value);
        CodePoint point = decode_utf8(text);
        ASSERT_TRUE(point.valid && point.value == value && point.bytes == text.size())
            << static_cast<std::uint32_t>(value);
    }
}

TEST(Utf8, surrogates_and_overlong_forms_are_broken) {
    for (std::string_view bad : {"\xED\xA0\x80", "\xC0\xAF", "\xE0\x80\xAF", "\xF5\x80\x80\x80", "\xF4\x90\x80\x80"})
        EXPECT_FALSE(decode_utf8(bad).valid);
}

}  // namespace
}  // namespace gpuprof
