// Collectives: sizes from records, rates with the factors of nccl-tests, exposed time.
#include <gtest/gtest.h>

#include "tests/unit/analyze/draft.h"
#include "tests/unit/analyze/read_table.h"

namespace gpuprof {
namespace {

void record(Draft& draft, std::int64_t correlation, std::string_view name, std::int64_t in, std::int64_t out,
            std::int64_t ranks) {
    CollectiveTable& table = draft.tables().collective;
    Row row = table.add();
    table.correlation.set(row, correlation);
    table.name.set(row, draft.intern(name));
    table.type.set(row, draft.intern("BFloat16"));
    table.in_elements.set(row, in);
    table.out_elements.set(row, out);
    table.group_size.set(row, ranks);
}

TEST(Collectives, RatesOfAKnownSize) {
    Draft draft;
    draft.kernel(0, 20, 0, 1000, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 1);
    draft.kernel(0, 20, 2000, 3000, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 2);
    draft.kernel(0, 20, 4000, 4500, "ncclDevKernel_AllGather_RING_LL", 3);
    draft.kernel(0, 7, 500, 1500, "gemm", 4);
    record(draft, 1, "allreduce", 5000, 5000, 4);
    record(draft, 2, "allreduce", 5000, 5000, 4);
    record(draft, 3, "_allgather_base", 1000, 4000, 4);
    Trace trace = draft.finish();
    ReadTable table(trace, "collectives");
    ASSERT_EQ(table.rows(), 2u);
    EXPECT_EQ(table.text(0, "name"), "all_reduce");
    EXPECT_EQ(table.integer(0, "count"), 2);
    EXPECT_EQ(table.integer(0, "bytes"), 10000);
    EXPECT_DOUBLE_EQ(table.real(0, "alg_gb_per_s"), 10.0);
    EXPECT_DOUBLE_EQ(table.real(0, "bus_gb_per_s"), 15.0);  // 2 * 3 / 4
    EXPECT_EQ(table.integer(0, "exposed_ns"), 1500);
    EXPECT_EQ(table.text(1, "name"), "all_gather");
    EXPECT_EQ(table.integer(1, "bytes"), 8000);  // the larger side
    EXPECT_DOUBLE_EQ(table.real(1, "bus_gb_per_s"), 12.0);
}

TEST(Collectives, UnknownSizesStayAbsent) {
    Draft draft;
    draft.kernel(0, 20, 0, 1000, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t");
    draft.kernel(0, 20, 1000, 1500, "rcclGather");
    Trace trace = draft.finish();
    ReadTable table(trace, "collectives");
    ASSERT_EQ(table.rows(), 2u);
    EXPECT_EQ(table.text(0, "name"), "send_recv");
    EXPECT_EQ(table.text(1, "name"), "rcclGather");
    for (std::size_t row : {0u, 1u})
        for (const char* column : {"bytes", "alg_gb_per_s", "bus_gb_per_s"}) EXPECT_TRUE(table.absent(row, column));
    EXPECT_EQ(table.notes().size(), 1u);
}

}  // namespace
}  // namespace gpuprof
