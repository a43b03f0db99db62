#include "analyze/facts/idle/profiler_cost.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analyze/replay/changes.h"
#include "core/schema/meta_keys.h"
#include "tests/unit/analyze/draft.h"

namespace gpuprof {
namespace {

RecorderPrice price_of(const std::vector<std::pair<std::string, std::string>>& facts) {
    Draft draft;
    for (const auto& [key, value] : facts) {
        MetaTable& meta = draft.tables().meta;
        Row row = meta.add();
        meta.key.set(row, draft.intern(key)), meta.value.set(row, draft.intern(value));
    }
    Trace trace = draft.finish(meta_key::kRecorderTool);
    return Facts(trace, {}).get<RecorderPrice>();
}

constexpr EstimatedNs kConstant = record_price(meta_key::kRecorderTool).call;

TEST(RecorderPrice, IsThatOfTheToolIfTheRecordingHasNone) {
    RecorderPrice found = price_of({});
    EXPECT_FALSE(found.measured);
    EXPECT_EQ(found.price.call.central, kConstant.central);
}

TEST(RecorderPrice, OfARecordingReplacesThatOfTheToolForCallsOnly) {
    RecorderPrice found = price_of({{meta_key::kCallRecordLowNs, "180"},
                                    {meta_key::kCallRecordNs, "210"},
                                    {meta_key::kCallRecordHighNs, "290"},
                                    {meta_key::kCallRecordLowNs, "150"},
                                    {meta_key::kCallRecordNs, "230"},
                                    {meta_key::kCallRecordHighNs, "260"}});
    EXPECT_TRUE(found.measured);
    EXPECT_EQ(found.price.call.low, 150);
    EXPECT_EQ(found.price.call.central, 230);
    EXPECT_EQ(found.price.call.high, 290);
    EXPECT_EQ(found.price.device_op.central, record_price(meta_key::kRecorderTool).device_op.central);
}

TEST(RecorderPrice, ThatMakesNoSenseIsNotTaken) {
    for (const char* value : {"", "-1", "fast", "1000000000000", "90"}) {
        RecorderPrice found = price_of({{meta_key::kCallRecordLowNs, "100"},
                                        {meta_key::kCallRecordNs, value},
                                        {meta_key::kCallRecordHighNs, "120"}});
        EXPECT_FALSE(found.measured) << value;
        EXPECT_EQ(found.price.call.central, kConstant.central) << value;
    }
}

// Host code of 20 us between calls, whose records cost `ns` each.
DurNs removed_at(DurNs ns) {
    Draft draft;
    for (const char* key : {meta_key::kCallRecordLowNs, meta_key::kCallRecordNs, meta_key::kCallRecordHighNs}) {
        MetaTable& meta = draft.tables().meta;
        Row row = meta.add();
        meta.key.set(row, draft.intern(key)), meta.value.set(row, draft.intern(std::to_string(ns)));
    }
    for (std::int64_t i = 0; i < 10; ++i) {
        draft.call("main", i * 30'000, i * 30'000 + 10'000, "cudaLaunchKernel", i + 1);
        draft.kernel(0, 7, i * 30'000 + 12'000, i * 30'000 + 15'000, "gemm", i + 1);
    }
    Trace trace = draft.finish(meta_key::kRecorderTool);
    Facts facts(trace, {});
    const ReplayGraph& graph = facts.get<ReplayGraph>();
    Scenario scenario(graph);
    EXPECT_TRUE(remove_recorder(facts, graph, scenario, Estimate::central));
    DurNs removed = 0;
    for (Point p = 0; p < graph.points(); ++p)
        if (graph.info[p].kind != PointKind::op) removed += graph.length[p] - scenario.length[p];
    return removed;
}

TEST(RecorderPrice, IsWhatAReplayRemoves) {
    DurNs calls = removed_at(100) / 100;
    EXPECT_GE(calls, 9);
    EXPECT_EQ(removed_at(900), 900 * calls);
}

}  // namespace
}  // namespace gpuprof
