// Faster kernels: never faster than the peaks of the device, and only those that a peak limits.
#include "analyze/replay/kernel_speed.h"

#include <gtest/gtest.h>

#include "analyze/facts/facts.h"
#include "analyze/facts/kernels/kernel_bound.h"
#include "analyze/facts/kernels/op_rates.h"
#include "io/importers/importer.h"
#include "tests/unit/source_folder.h"

namespace gpuprof::test {
namespace {

struct Recorded {
    explicit Recorded(const std::string& name) {
        Result<Trace> opened = open_file(source_folder() + "/tests/fixtures/kineto/" + name);
        EXPECT_TRUE(opened.ok());
        trace = std::make_unique<Trace>(std::move(opened).value());
        facts = std::make_unique<Facts>(*trace, Options{});
    }
    const ReplayGraph& graph() const { return facts->get<ReplayGraph>(); }
    Row kernel(Point p) const {
        bool op = graph().info[p].kind == PointKind::op && op_kind(graph().object[p]) == DeviceOp::kernel;
        return op ? op_row(graph().object[p]) : kNoRow;
    }
    std::unique_ptr<Trace> trace;
    std::unique_ptr<Facts> facts;
};

using Apply = bool (*)(const Facts&, const ReplayGraph&, Scenario&, Estimate);

Scenario with(const Recorded& recorded, Apply apply, Estimate estimate) {
    Scenario scenario(recorded.graph());
    EXPECT_TRUE(apply(*recorded.facts, recorded.graph(), scenario, estimate));
    return scenario;
}

void expect_ordered(const Recorded& recorded, Apply apply) {
    Scenario low = with(recorded, apply, Estimate::low), central = with(recorded, apply, Estimate::central),
             high = with(recorded, apply, Estimate::high);
    for (Point p = 0; p < recorded.graph().points(); ++p) {
        ASSERT_LE(high.length[p], central.length[p]);
        ASSERT_LE(central.length[p], low.length[p]);
        ASSERT_LE(low.length[p], recorded.graph().length[p]);
        if (recorded.kernel(p) == kNoRow) {
            ASSERT_EQ(high.length[p], recorded.graph().length[p]);
        }
    }
}

TEST(KernelSpeed, IsBetweenItsEstimates) {
    expect_ordered(Recorded("transformer-stacks-shapes-memory.json.zst"), reach_peaks);
    expect_ordered(Recorded("overlap.json.gz"), use_tensor_cores);
}

TEST(KernelSpeed, StaysBelowThePeaks) {
    Recorded recorded("transformer-stacks-shapes-memory.json.zst");
    const OpRates& rates = recorded.facts->get<OpRates>();
    Scenario best = with(recorded, reach_peaks, Estimate::high);
    std::vector<double> time(rates.rates.size(), 0), before(rates.rates.size(), 0);
    for (Point p = 0; p < recorded.graph().points(); ++p) {
        Row row = recorded.kernel(p);
        if (row == kNoRow || rates.rate_of_kernel[row] == kNoRow) continue;
        time[rates.rate_of_kernel[row]] += static_cast<double>(best.length[p]);
        before[rates.rate_of_kernel[row]] += static_cast<double>(recorded.graph().length[p]);
    }
    std::size_t faster = 0;
    for (std::size_t i = 0; i < time.size(); ++i) {
        const OpRate& rate = rates.rates[i];
        faster += time[i] < before[i];
        if (!rate.bound) {
            EXPECT_EQ(time[i], before[i]) << "limited by neither peak";
        }
        double pct = std::max(rate.compute_pct.value_or(0), rate.bandwidth_pct.value_or(0));
        EXPECT_GE(time[i] * 1.001 + 1'000, std::min(1.0, pct / 100) * before[i]);
    }
    EXPECT_GT(faster, 5u);
}

TEST(KernelSpeed, OfAProductIsThatOfTheTwoPeaks) {
    Recorded recorded("overlap.json.gz");  // H200: 67 TFLOP/s FP32, 494.7 TFLOP/s TF32
    Scenario best = with(recorded, use_tensor_cores, Estimate::high),
             worst = with(recorded, use_tensor_cores, Estimate::low);
    std::size_t products = 0;
    for (Point p = 0; p < recorded.graph().points(); ++p) {
        Row row = recorded.kernel(p);
        if (row == kNoRow || best.length[p] == recorded.graph().length[p]) continue;
        ++products;
        auto before = static_cast<double>(recorded.graph().length[p]);
        EXPECT_NEAR(static_cast<double>(best.length[p]) / before, 66.9 / 494.7, 0.005);
        EXPECT_NEAR(static_cast<double>(worst.length[p]) / before, 0.5, 0.001);
    }
    EXPECT_EQ(products, 80u);
}

TEST(KernelSpeed, OfKernelsThatArithmeticDoesNotLimitStays) {
    Recorded recorded("graph.json.zst");  // FP32 products too small to fill the device
    Scenario scenario(recorded.graph());
    EXPECT_FALSE(use_tensor_cores(*recorded.facts, recorded.graph(), scenario, Estimate::high));
    EXPECT_FALSE(reach_peaks(*recorded.facts, recorded.graph(), scenario, Estimate::high)) << "no shapes";
}

}  // namespace
}  // namespace gpuprof::test
