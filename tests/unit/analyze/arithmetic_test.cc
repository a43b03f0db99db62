// `arithmetic`: which operator a kernel belongs to.
#include <gtest/gtest.h>

#include "tests/unit/analyze/draft.h"
#include "tests/unit/analyze/read_table.h"

namespace gpuprof {
namespace {

void shape(Draft& draft, Row op, std::string_view dims) {
    draft.tables().op.input_dims.set(op, draft.intern(dims));
    draft.tables().op.input_types.set(op, draft.intern(R"(["float", "float"])"));
}

// Kineto of 2021 to 2024 repeats the correlation as the external id; here an operator even has that number as its own.
TEST(Arithmetic, FindsTheOperatorThroughTheLaunchWhereTheIdSaysNothing) {
    Draft draft;
    shape(draft, draft.op("main", 0, 100'000, "aten::linear", 10), "[[64, 64], [64, 64]]");
    shape(draft, draft.op("main", 10'000, 90'000, "aten::mm", 11), "[[64, 64], [64, 64]]");
    shape(draft, draft.op("other", 0, 100'000, "aten::add", 101), "[[1], [1]]");
    draft.call("main", 20'000, 25'000, "cudaLaunchKernel", 101);
    draft.kernel(0, 7, 30'000, 40'000, "gemm", 101, 101);
    draft.call("main", 95'000, 96'000, "cudaLaunchKernel", 102);
    draft.kernel(0, 7, 96'000, 99'000, "bias", 102, 102);
    Trace trace = draft.finish();
    ReadTable table(trace, "arithmetic");
    ASSERT_EQ(table.rows(), 2u);
    std::size_t mm = table.find("name", "aten::mm");
    EXPECT_EQ(table.integer(mm, "device_ns"), 10'000);
    EXPECT_DOUBLE_EQ(table.real(mm, "flops"), 2.0 * 64 * 64 * 64);
    EXPECT_EQ(table.integer(table.find("name", "aten::linear"), "device_ns"), 3'000);
}

TEST(Arithmetic, BelievesAnExternalIdOfItsOwn) {
    Draft draft;
    shape(draft, draft.op("main", 0, 100'000, "aten::linear", 10), "[[64, 64], [64, 64]]");
    shape(draft, draft.op("main", 10'000, 90'000, "aten::mm", 11), "[[64, 64], [64, 64]]");
    draft.call("main", 20'000, 25'000, "cudaLaunchKernel", 101);
    draft.kernel(0, 7, 30'000, 40'000, "gemm", 101, 10);
    Trace trace = draft.finish();
    ReadTable table(trace, "arithmetic");
    ASSERT_EQ(table.rows(), 1u);
    EXPECT_EQ(table.text(0, "name"), "aten::linear");
}

}  // namespace
}  // namespace gpuprof
