// What patterns match, and which are refused.
#include "core/base/text/pattern.h"

#include <gtest/gtest.h>

namespace gpuprof {
namespace {

TEST(Pattern, MatchesAnyPartOfAText) {
    Result<Pattern> pattern = Pattern::compile("gemm|^ampere_s?g");
    ASSERT_TRUE(pattern.ok());
    for (std::string_view text : {"gemm", "cutlass_gemm_128", "ampere_sgxx", "ampere_g"})
        EXPECT_TRUE(pattern->matches(text)) << text;
    for (std::string_view text : {"", "GEMM", "x_ampere_sg", "ampere_s"}) EXPECT_FALSE(pattern->matches(text)) << text;
    std::string_view part = std::string_view("sgemm_128").substr(0, 3);
    EXPECT_FALSE(pattern->matches(part)) << "beyond the end of the text";
}

TEST(Pattern, IgnoresCaseIfAsked) {
    EXPECT_TRUE(Pattern::compile("(?i)GeMM")->matches("sgemm"));
    EXPECT_FALSE(Pattern::compile("GeMM")->matches("sgemm"));
}

TEST(Glob, StandsForTheWholeText) {
    for (std::string_view glob :
         {"step[DECODE bs=*]", "*DECODE*", "*", "step*=*]", "s*p[DECODE bs=32]", "step[DECODE bs=32]**"})
        EXPECT_TRUE(matches_glob(glob, "step[DECODE bs=32]")) << glob;
    for (std::string_view glob :
         {"", "step", "DECODE", "step[DECODE bs=?2]", "*EXTEND*", "*]*x", "step[DECODE bs=32]x"})
        EXPECT_FALSE(matches_glob(glob, "step[DECODE bs=32]")) << glob;
    EXPECT_TRUE(matches_glob("", ""));
    EXPECT_TRUE(matches_glob("*ab*ab", "abab ab"));
}

TEST(Pattern, RefusesWhatIsNone) {
    for (const char* text : {"(", "[a", "a{2,1}", "(?i)("}) {
        Result<Pattern> pattern = Pattern::compile(text);
        ASSERT_FALSE(pattern.ok()) << text;
        EXPECT_EQ(pattern.error().code, ExitCode::usage);
        EXPECT_NE(pattern.error().message.find(text), std::string::npos) << text;
    }
    EXPECT_TRUE(Pattern::compile(std::string(1000, 'a')).ok());
    EXPECT_FALSE(Pattern::compile(std::string(1001, 'a')).ok());
    std::string large;  // compiled; it is short
    for (int i = 0; i < 20; ++i) large += ".{1000}";
    EXPECT_FALSE(Pattern::compile(large).ok());
}

}  // namespace
}  // namespace gpuprof
