// Changes as text: what is read, what is refused, and that what is written is read again.
#include <gtest/gtest.h>

#include "analyze/replay/changes.h"

namespace gpuprof {
namespace {

std::vector<Edit> parsed(std::string_view text) {
    Result<std::vector<Edit>> edits = parse_edits(text);
    EXPECT_TRUE(edits.ok()) << text << ": " << (edits.ok() ? "" : edits.error().message);
    return edits.ok() ? *edits : std::vector<Edit>();
}

std::string refusal(std::string_view text) {
    Result<std::vector<Edit>> edits = parse_edits(text);
    EXPECT_FALSE(edits.ok()) << text;
    if (edits.ok()) return "";
    EXPECT_EQ(edits.error().code, ExitCode::usage);
    return edits.error().message;
}

TEST(Edits, AreReadAgainAsTheyAreWritten) {
    std::vector<Edit> edits;
    for (std::size_t i = 0; i < kUsualChanges; ++i) edits.push_back(usual_edit(static_cast<Change>(i)));
    for (double factor : {0.0, 0.5, 1.0 / 3, 1e-9, 1000.0}) {
        edits.push_back({Change::kernels, factor, "gemm|^ampere_.*=1$"});
        for (Change change : {Change::input, Change::allocation, Change::host_code, Change::communication})
            edits.push_back({change, factor, ""});
    }
    std::string all;
    for (const Edit& edit : edits) {
        EXPECT_EQ(parsed(text_of(edit)), std::vector{edit}) << text_of(edit);
        all += text_of(edit) + ';';
    }
    EXPECT_EQ(parsed(all), edits);
}

TEST(Edits, GoAllTheWayWithoutAFactor) {
    EXPECT_EQ(parsed("input"), (std::vector<Edit>{{Change::input, 0, ""}}));
    EXPECT_EQ(parsed("input=0.25"), (std::vector<Edit>{{Change::input, 0.25, ""}}));
    EXPECT_EQ(parsed("waits=0"), (std::vector<Edit>{{Change::waits, 0, ""}}));
}

TEST(Edits, AreSeparatedBySemicolonsAndSpaces) {
    std::vector<Edit> wanted{{Change::input, 0, ""}, {Change::kernels, 0.5, "a b"}};
    for (const char* text :
         {"input;kernel:a b=0.5", " input ; kernel:a b=0.5 ", ";;input;; kernel:a b=0.5;", "input  ;;  kernel:a b=0.5"})
        EXPECT_EQ(parsed(text), wanted) << text;
    for (const char* text : {"", " ", ";", " ; ;"}) EXPECT_TRUE(parsed(text).empty()) << text;
}

TEST(Edits, WithUnknownNamesAreRefused) {
    EXPECT_EQ(refusal("input; inputs"), "unknown change 'inputs'; did you mean 'input'?");
    EXPECT_NE(refusal("xyz").find("kernel:REGEX"), std::string::npos);
    for (const char* text : {"Input", "input 0", "kernel", "kernel=0.5", "=0.5", "=", "input=0.5=0.5"})
        EXPECT_NE(refusal(text).find("change '"), std::string::npos) << text;
}

TEST(Edits, NameKernelsByHandle) {
    EXPECT_EQ(parsed("k-3=0.5"), (std::vector<Edit>{{Change::kernels, 0.5, "", 3}}));
    EXPECT_EQ(text_of(parsed("k-3=0.5").front()), "k-3=0.5");
    EXPECT_NE(refusal("k-3").find("k-3=0.5"), std::string::npos);
    for (const char* text : {"k-0=0.5", "k-=0.5", "k-x=0.5", "k-1x=0.5", "k=0.5"})
        EXPECT_NE(refusal(text).find("unknown change"), std::string::npos) << text;
}

TEST(Edits, WithImpossibleFactorsAreRefused) {
    EXPECT_EQ(refusal("input=fast"), "invalid factor 'fast' in change 'input=fast': expected a number from 0 to 1000");
    for (const char* text : {"input=", "input=-1", "input=-0.001", "input=nan", "input=-nan", "input=inf", "input=1e9",
                             "input=1001", "input=0.5x", "input=0,5", "input= 0.5", "kernel:gemm=", "kernel:gemm=two"})
        EXPECT_TRUE(refusal(text).starts_with("invalid factor '")) << text;
    for (const char* text : {"waits=0.5", "pinned-copies=0.1", "copy-stream=1", "cuda-graph=0.5", "fusion=2"})
        EXPECT_NE(refusal(text).find("has no factor: it is made or not"), std::string::npos) << text;
}

TEST(Edits, OfKernelsNeedAPatternAndAFactor) {
    EXPECT_EQ(refusal("kernel:gemm"), "change 'kernel:gemm' needs a factor, as in 'kernel:gemm=0.5'");
    for (const char* text : {"kernel:=0.5", "kernel:(=0.5", "kernel:[a=0.5", "kernel:a{2,1}=0.5"}) {
        EXPECT_NE(refusal(text).find(text), std::string::npos) << text;
        EXPECT_NE(refusal(text).find("pattern"), std::string::npos) << text;
    }
    EXPECT_EQ(parsed("kernel:a=b=0.5"), (std::vector<Edit>{{Change::kernels, 0.5, "a=b"}}));
}

}  // namespace
}  // namespace gpuprof
