#include "collect/counters/counter_catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "collect/counters/metric_plan.h"

namespace gpuprof::counters {
namespace {

TEST(CounterSets, have_every_metric_once_and_full_has_all) {
    std::vector<std::string> full = metrics_of("full");
    std::set<std::string> all(full.begin(), full.end());
    EXPECT_EQ(all.size(), full.size());
    for (const MetricSet& set : metric_sets()) {
        std::vector<std::string> names = metrics_of(set.name);
        EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size()) << set.name;
        for (const std::string& name : names) EXPECT_TRUE(all.count(name)) << name;
    }
    EXPECT_TRUE(metrics_of("nonsense").empty());
}

TEST(CounterSets, begin_with_triage_in_sol) {
    std::vector<std::string> triage = metrics_of("triage"), sol = metrics_of("sol");
    ASSERT_GT(sol.size(), triage.size());
    EXPECT_TRUE(std::equal(triage.begin(), triage.end(), sol.begin()));
}

TEST(CounterSets, do_without_metrics_that_cost_a_pass) {
    EXPECT_EQ(costly_metrics("triage", "TU102").size(), 2U);
    EXPECT_EQ(costly_metrics("triage", "TU117").size(), 2U);
    EXPECT_TRUE(costly_metrics("triage", "GH100").empty());
    EXPECT_TRUE(costly_metrics("sol", "TU102").empty());
    for (const std::string& name : costly_metrics("sol", "GB202")) {
        std::vector<std::string> sol = metrics_of("sol");
        EXPECT_NE(std::find(sol.begin(), sol.end(), name), sol.end()) << name;
    }
}

TEST(CounterOption, takes_sets_and_metrics_together) {
    auto names = metrics_of_option("triage,sm__sass_x.sum,triage");
    ASSERT_TRUE(names.ok());
    EXPECT_EQ(names->size(), metrics_of("triage").size() + 1);
    EXPECT_EQ(names->back(), "sm__sass_x.sum");
}

TEST(CounterOption, refuses_what_is_neither) {
    for (const char* text : {"", ",", "triag", "gpu__time_duration", "sum"})
        EXPECT_FALSE(metrics_of_option(text).ok()) << text;
    EXPECT_NE(metrics_of_option("triag").error().message.find("neither a set (triage, sol,"), std::string::npos);
}

// As Nsight Compute's raw page with --print-units base.
TEST(CounterUnits, are_those_of_nsight_compute) {
    EXPECT_EQ(unit_of_dimension("percent"), "%");
    EXPECT_EQ(unit_of_dimension("nanosecond"), "ns");
    EXPECT_EQ(unit_of_dimension("dram_cycle"), "cycle");
    EXPECT_EQ(unit_of_dimension("gpc_cycle/second"), "hz");
    EXPECT_EQ(unit_of_dimension("byte/second"), "byte/s");
    EXPECT_EQ(unit_of_dimension("instruction/gpc_cycle"), "inst/cycle");
    EXPECT_EQ(unit_of_dimension("byte/l2_sector"), "byte/sector");
    EXPECT_EQ(unit_of_dimension("math_op"), "");
    EXPECT_EQ(unit_of_dimension(""), "");
}

TEST(CounterUnits, follow_from_names_where_the_library_does_not_tell) {
    EXPECT_EQ(unit_of_name("gpu__time_duration.sum"), "ns");
    EXPECT_EQ(unit_of_name("dram__bytes_read.sum"), "byte");
    EXPECT_EQ(unit_of_name("l1tex__t_sector_hit_rate.pct"), "%");
    EXPECT_EQ(unit_of_name("sm__warps_active.avg.pct_of_peak_sustained_active"), "%");
    EXPECT_EQ(unit_of_name("gpc__cycles_elapsed.avg.per_second"), "hz");
    EXPECT_EQ(unit_of_name("smsp__warps_active.avg.per_cycle_active"), "");
    EXPECT_EQ(unit_of_name("smsp__average_warp_latency_per_inst_issued.ratio"), "");
    EXPECT_EQ(unit_of_name("sm__ops_path_tensor_src_fp16.sum"), "");
}

}  // namespace
}  // namespace gpuprof::counters
