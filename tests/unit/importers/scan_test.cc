// The lexical layer: where values end, and what strings mean.
#include "io/importers/kineto/scan.h"

#include <gtest/gtest.h>

#include "io/importers/kineto/event.h"

namespace gpuprof::kineto {
namespace {

// Text with the padding the scanner asks for.
struct Padded {
    explicit Padded(std::string_view text) : bytes(text), size(text.size()) { bytes.append(kScanPadding, '\xFF'); }
    const char* begin() const { return bytes.data(); }
    const char* end() const { return bytes.data() + size; }
    std::string bytes;
    std::size_t size;
};

struct Scanned {
    Scan scan;
    std::string text, rest;
    bool too_deep = false;
};

Scanned scanned(std::string_view text) {
    Padded padded(text);
    const char* p = padded.begin();
    RawValue value;
    Scanned result{Scan::ok, "", "", false};
    result.scan = scan_value(p, padded.end(), value, result.too_deep);
    if (result.scan == Scan::ok) {
        result.text = value.text();
        result.rest = {p, padded.end()};
    }
    return result;
}

std::string decoded(std::string_view inside, bool expect_clean) {
    Padded padded("\"" + std::string(inside) + "\",");
    const char* p = padded.begin();
    RawValue value;
    EXPECT_EQ(scan_string(p, padded.end(), value), Scan::ok);
    std::string scratch;
    bool clean = true;
    std::string text(decode_string(value, scratch, clean));
    EXPECT_EQ(clean, expect_clean) << inside;
    return text;
}

TEST(Scan, Values) {
    EXPECT_EQ(scanned("12.5, 3").text, "12.5");
    EXPECT_EQ(scanned("12.5, 3").rest, ", 3");
    EXPECT_EQ(scanned("NaN}").text, "NaN");
    EXPECT_EQ(scanned("\"a\\\"b\" ,").text, "a\\\"b");
    EXPECT_EQ(scanned("[[1, 2], [\"]\"], {}] tail").text, "[[1, 2], [\"]\"], {}]");
    EXPECT_EQ(scanned("{\"a\": {\"b\": \"}\"}},").text, "{\"a\": {\"b\": \"}\"}}");
}

TEST(Scan, CutOffAtEveryByte) {
    std::string_view text =
        "{\"a\": [1, \"x\\\"y\", {\"b\": null}], \"c\": \"0123456789012345678901234567890123456789\"}";
    EXPECT_EQ(scanned(text).scan, Scan::ok);
    for (std::size_t n = 0; n < text.size(); ++n) EXPECT_EQ(scanned(text.substr(0, n)).scan, Scan::cut_off) << n;
}

TEST(Scan, BracketsMustPair) {
    EXPECT_EQ(scanned("{\"a\": [1, 2}").scan, Scan::bad);
    EXPECT_EQ(scanned("[1, 2}").scan, Scan::bad);
    EXPECT_EQ(scanned("}").scan, Scan::bad);
}

TEST(Scan, DepthIsBounded) {
    std::string at_limit = std::string(kMaxDepth, '[') + std::string(kMaxDepth, ']');
    EXPECT_EQ(scanned(at_limit).scan, Scan::ok);
    EXPECT_FALSE(scanned(at_limit).too_deep);
    Scanned deep = scanned(std::string(100'000, '[') + std::string(100'000, ']') + "x");
    EXPECT_EQ(deep.scan, Scan::ok);
    EXPECT_TRUE(deep.too_deep);
    EXPECT_EQ(deep.rest, "x");
}

TEST(Scan, StringsOfAnyLength) {
    for (std::size_t n = 0; n < 70; ++n) {
        std::string inside(n, 'x');
        EXPECT_EQ(decoded(inside, true), inside);
    }
}

TEST(Scan, Escapes) {
    EXPECT_EQ(decoded(R"(\"\\\/\b\f\n\r\t)", true), "\"\\/\b\f\n\r\t");
    EXPECT_EQ(decoded(R"(\u0041\u00e4\u20AC)", true), "A\xC3\xA4\xE2\x82\xAC");
    EXPECT_EQ(decoded(R"(\ud83d\ude00!)", true), "\xF0\x9F\x98\x80!");
    EXPECT_EQ(decoded(R"(\u0000)", true), std::string(1, '\0'));
}

TEST(Scan, BrokenStringsAreKeptByteByByte) {
    EXPECT_EQ(decoded(R"(C:\path\x)", false), R"(C:\path\x)");
    EXPECT_EQ(decoded(R"(\ud800)", false), R"(\ud800)");
    EXPECT_EQ(decoded(R"(\udc00\ud800)", false), R"(\udc00\ud800)");
    EXPECT_EQ(decoded(R"(\ud800\u0041)", false), R"(\ud800A)");
    EXPECT_EQ(decoded(R"(\u12)", false), R"(\u12)");
    EXPECT_EQ(decoded(R"(\u12g4)", false), R"(\u12g4)");
    EXPECT_EQ(decoded("line\nbreak\x01", false), "line\nbreak\x01");
    EXPECT_EQ(decoded("\xFF\xFE", true), "\xFF\xFE");
    EXPECT_EQ(decoded("say \"hi\" now", false), "say \"hi\" now");
}

TEST(Scan, LooksLikeEvent) {
    auto looks = [](std::string_view text, std::size_t at) {
        Padded padded(text);
        const char* p = padded.begin() + at;
        return looks_like_event(last_visible(padded.begin(), p, ','), p, padded.end());
    };
    EXPECT_TRUE(looks("{\"ph\": 1", 0));
    EXPECT_TRUE(looks("},\n  {\n    \"name\" : 1", 5));
    EXPECT_TRUE(looks("[{\"bp\":\"e\"", 1));
    EXPECT_FALSE(looks("\"args\": {\"name\": 1", 8));
    EXPECT_FALSE(looks("{\"grid\": 1", 0));
    EXPECT_FALSE(looks("{\"ph\" 1", 0));
    EXPECT_FALSE(looks("{\"ph\"", 0));
    EXPECT_FALSE(looks("{", 0));
}

}  // namespace
}  // namespace gpuprof::kineto
