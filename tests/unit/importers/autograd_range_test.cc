// Texts of emit_nvtx's ranges, taken apart.
#include <gtest/gtest.h>

#include "io/importers/autograd_range.h"

namespace gpuprof {
namespace {

TEST(AutogradRange, IsANameAndFactsOfOneCall) {
    AutogradRange range = parse_autograd_range("aten::to, seq = 45440, op_id = 999599");
    EXPECT_EQ(range.name, "aten::to");
    EXPECT_EQ(range.sequence, 45440);
    EXPECT_EQ(range.op_id, 999599);
    EXPECT_EQ(range.sizes, "");
    range = parse_autograd_range("aten::mm, op_id = 7, sizes = [[2, 3], [3, 4], []], input_op_ids = [(5,0), (6,1)]");
    EXPECT_EQ(range.name, "aten::mm");
    EXPECT_FALSE(range.sequence);
    EXPECT_EQ(range.op_id, 7);
    EXPECT_EQ(range.sizes, "[[2, 3], [3, 4], []]");
    EXPECT_EQ(range.input_ops, "[(5,0), (6,1)]");
    EXPECT_EQ(parse_autograd_range("f<a, b>, seq = -1").name, "f<a, b>");
    EXPECT_EQ(parse_autograd_range("f, op_id = 1, op_id = 2").name, "f, op_id = 1");  // the facts of one call
}

TEST(AutogradRange, OtherTextsAreNames) {
    for (const char* text : {"", "step", "a, b", "a, op_id = ", "a, op_id = 7 (x)", "a, sizes = [[1]", "a, sizes = [x]",
                             ", op_id = 7", "a, seq = 99999999999999999999", "loss, lr = 3"}) {
        AutogradRange range = parse_autograd_range(text);
        EXPECT_EQ(range.name, text);
        EXPECT_FALSE(range.op_id || range.sequence);
        EXPECT_EQ(range.sizes, "");
    }
}

}  // namespace
}  // namespace gpuprof
