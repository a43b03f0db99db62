// Each rule about a kernel: where it fires, where it stays silent, and what it abstains without. Profiles are made of the
// counters that matter; the recorded kernels are judged by tests/python/report/test_kernel_metrics.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "analyze/kernels/kernel_rule_list.h"

namespace gpuprof {
namespace {

using enum KernelMetric;
using Counters = std::map<KernelMetric, double>;

// Well-fed and below every peak; warps wait for loads.
Counters latency_bound() {
    return {{duration, 100'000},
            {compute_pct, 30},
            {memory_pct, 35},
            {dram_pct, 35},
            {block_size, 256},
            {grid_size, 13'200},
            {sms, 132},
            {waves, 12.5},
            {theoretical_pct, 100},
            {achieved_pct, 80},
            {limit_registers, 8},
            {limit_warps, 8},
            {active_cycles, 95'000},
            {sm_active_max, 100'000},
            {threads_per_inst, 32},
            {l1_load_requests, 1000},
            {l1_store_requests, 1000},
            {l1_load_sectors, 4000},
            {l1_store_sectors, 4000},
            {load_bytes_per_sector, 32},
            {store_bytes_per_sector, 32},
            {atomic_requests, 0},
            {reduction_requests, 0},
            {local_load_sectors, 0},
            {local_store_sectors, 0},
            {shared_wavefronts, 0},
            {bank_conflicts, 0},
            {part_tensor_pipe, 0},
            {part_fma_pipe, 20},
            {part_fp64_pipe, 0},
            {part_l1_wavefronts, 30},
            {latency, 40},
            {stall_long_scoreboard, 24},
            {stall_wait, 6},
            {stall_barrier, 2},
            {stall_short_scoreboard, 2},
            {stall_no_instruction, 1},
            {stall_mio_throttle, 1},
            {stall_not_selected, 2},
            {stall_selected, 1},
            {stall_drain, 1}};
}

Counters with(Counters counters, const Counters& changes) {
    for (auto [metric, value] : changes) counters[metric] = value;
    return counters;
}
Counters without(Counters counters, std::initializer_list<KernelMetric> metrics) {
    for (KernelMetric metric : metrics) counters.erase(metric);
    return counters;
}

KernelRuling ruling(std::string_view rule, const Counters& counters, std::string_view name = "kernel") {
    MeasuredKernel kernel(0, {counters.begin(), counters.end()});
    KernelProfile profile(kernel, name);
    for (const KernelRule* each : kKernelRules)
        if (each->id == rule) return each->look(profile);
    ADD_FAILURE() << "no rule " << rule;
    return KernelRuling::silent();
}
std::string outcome(const KernelRuling& ruling) {
    if (ruling.finding) return "fires";
    return ruling.cannot_tell.empty() ? "silent" : "abstains";
}
double gain(const KernelRuling& ruling) { return ruling.finding ? ruling.finding->gain_pct.value_or(-1) : -2; }

struct Case {
    const char *rule, *expected;
    Counters counters;
    const char* name = "kernel";
};

const Case kCases[] = {
    {"dram-bound", "fires", with(latency_bound(), {{memory_pct, 80}, {dram_pct, 80}})},
    {"dram-bound", "silent", latency_bound()},
    {"cache-bound", "fires", with(latency_bound(), {{memory_pct, 75}, {l2_pct, 75}})},
    {"cache-bound", "silent", with(latency_bound(), {{memory_pct, 80}, {dram_pct, 80}})},
    {"compute-bound", "fires", with(latency_bound(), {{compute_pct, 90}, {part_fma_pipe, 90}})},
    {"compute-bound", "silent", latency_bound()},
    {"latency-bound", "fires", latency_bound()},
    {"latency-bound", "silent", with(latency_bound(), {{compute_pct, 90}})},
    {"latency-bound", "abstains", without(latency_bound(), {compute_pct})},
    {"uncoalesced-access", "fires",
     with(latency_bound(), {{l1_load_sectors, 32'000}, {load_bytes_per_sector, 4}, {memory_pct, 50}})},
    {"uncoalesced-access", "silent", latency_bound()},
    // All threads read one element: one sector, 4 bytes of it.
    {"uncoalesced-access", "silent", with(latency_bound(), {{l1_load_sectors, 1000}, {load_bytes_per_sector, 4}})},
    {"uncoalesced-access", "abstains", without(latency_bound(), {load_bytes_per_sector})},
    {"bank-conflicts", "fires",
     with(latency_bound(), {{shared_wavefronts, 1000}, {bank_conflicts, 900}, {part_l1_wavefronts, 80}})},
    {"bank-conflicts", "silent", with(latency_bound(), {{shared_wavefronts, 1000}, {bank_conflicts, 30}})},
    {"bank-conflicts", "silent", latency_bound()},
    {"bank-conflicts", "abstains", without(latency_bound(), {bank_conflicts})},
    {"low-occupancy", "fires", with(latency_bound(), {{theoretical_pct, 25}, {limit_registers, 2}})},
    {"low-occupancy", "fires", with(latency_bound(), {{waves, 0.1}, {grid_size, 100}})},
    {"low-occupancy", "silent", latency_bound()},
    // Near a peak, more warps would not help.
    {"low-occupancy", "silent", with(latency_bound(), {{theoretical_pct, 25}, {compute_pct, 80}})},
    // A matrix product that holds its tile in registers.
    {"low-occupancy", "silent", with(latency_bound(), {{theoretical_pct, 19}, {part_tensor_pipe, 40}})},
    // More warps would queue at the same addresses.
    {"low-occupancy", "silent", with(latency_bound(), {{waves, 0.3}, {reduction_requests, 5000}})},
    {"low-occupancy", "abstains", without(latency_bound(), {theoretical_pct, waves, limit_registers, limit_warps})},
    {"low-occupancy", "abstains",
     without(with(latency_bound(), {{theoretical_pct, 25}, {limit_warps, 2}}), {reduction_requests})},
    // Many registers: it does more than to queue.
    {"low-occupancy", "fires",
     without(with(latency_bound(), {{theoretical_pct, 25}, {limit_registers, 2}}), {reduction_requests})},
    {"tail-effect", "fires", with(latency_bound(), {{waves, 1.1}})},
    {"tail-effect", "silent", with(latency_bound(), {{waves, 1.94}})},
    {"tail-effect", "silent", with(latency_bound(), {{waves, 0.5}})},
    {"tail-effect", "abstains", without(latency_bound(), {waves, limit_registers, limit_warps})},
    {"sm-imbalance", "fires", with(latency_bound(), {{active_cycles, 60'000}})},
    {"sm-imbalance", "silent", latency_bound()},
    {"sm-imbalance", "silent", with(latency_bound(), {{active_cycles, 60'000}, {grid_size, 80}})},
    {"sm-imbalance", "abstains", without(latency_bound(), {sm_active_max})},
    {"without-tensor-cores", "fires", with(latency_bound(), {{part_fma_pipe, 60}}), "sgemm_naive"},
    {"without-tensor-cores", "silent", with(latency_bound(), {{part_fma_pipe, 60}}), "softmax"},
    {"without-tensor-cores", "silent", with(latency_bound(), {{part_tensor_pipe, 50}}), "gemm"},
    {"without-tensor-cores", "abstains", without(latency_bound(), {part_tensor_pipe}), "gemm"},
    {"starved-tensor-cores", "fires", with(latency_bound(), {{part_tensor_pipe, 25}})},
    {"starved-tensor-cores", "silent", latency_bound()},
    {"starved-tensor-cores", "silent", with(latency_bound(), {{part_tensor_pipe, 80}, {compute_pct, 80}})},
    {"starved-tensor-cores", "abstains", without(latency_bound(), {part_tensor_pipe})},
    {"register-spills", "fires", with(latency_bound(), {{local_load_sectors, 6000}, {local_store_sectors, 6000}})},
    {"register-spills", "silent", latency_bound()},
    {"register-spills", "abstains", without(latency_bound(), {local_load_sectors})},
    {"divergence", "fires", with(latency_bound(), {{threads_per_inst, 6}, {compute_pct, 70}})},
    {"divergence", "silent", latency_bound()},
    {"divergence", "silent", with(latency_bound(), {{threads_per_inst, 16}, {block_size, 16}})},
    {"divergence", "abstains", without(latency_bound(), {threads_per_inst})},
    {"contended-atomics", "fires", with(latency_bound(), {{reduction_requests, 5000}})},
    {"contended-atomics", "silent", latency_bound()},
    {"contended-atomics", "silent", with(latency_bound(), {{reduction_requests, 5000}, {stall_long_scoreboard, 1}})},
    {"contended-atomics", "abstains", without(latency_bound(), {reduction_requests})},
    {"instruction-cache", "fires", with(latency_bound(), {{stall_no_instruction, 12}})},
    {"instruction-cache", "silent", latency_bound()},
    {"instruction-cache", "abstains", with(latency_bound(), {{stall_no_instruction, 12}, {duration, 2'000}})},
    {"instruction-cache", "abstains",
     without(latency_bound(), {stall_long_scoreboard, stall_wait, stall_barrier, stall_short_scoreboard})},
};

TEST(KernelRules, FireStaySilentAndAbstain) {
    for (const Case& each : kCases) {
        KernelRuling found = ruling(each.rule, each.counters, each.name);
        EXPECT_EQ(outcome(found), each.expected)
            << each.rule << ": " << (found.finding ? found.finding->title : found.cannot_tell);
    }
}

TEST(KernelRules, EachHasACaseInWhichItFiresAndOneInWhichItIsSilent) {
    for (const KernelRule* rule : kKernelRules)
        for (const char* expected : {"fires", "silent"})
            EXPECT_TRUE(std::any_of(
                std::begin(kCases), std::end(kCases),
                [&](const Case& each) { return rule->id == each.rule && each.expected == std::string_view(expected); }))
                << rule->id << " " << expected;
}

TEST(KernelRules, AbstainWithoutAnything) {
    for (const KernelRule* rule : kKernelRules) EXPECT_FALSE(ruling(rule->id, {}).finding) << rule->id;
}

TEST(KernelRules, GainsAreSharesOfTheDuration) {
    for (const Case& each : kCases) {
        KernelRuling found = ruling(each.rule, each.counters, each.name);
        if (found.finding && found.finding->gain_pct) {
            EXPECT_GE(*found.finding->gain_pct, 0) << each.rule;
            EXPECT_LE(*found.finding->gain_pct, 100) << each.rule;
        }
    }
}

TEST(KernelRules, GainOfCausesOfTrafficFollowsTheBusyLevel) {
    Counters scattered =
        with(latency_bound(), {{l1_load_sectors, 32'000}, {load_bytes_per_sector, 4}, {memory_pct, 50}});
    Counters busier = with(scattered, {{memory_pct, 58}});
    EXPECT_LT(gain(ruling("uncoalesced-access", scattered)), gain(ruling("uncoalesced-access", busier)));
    // Loads whose sectors are found in L1 burden only L1.
    Counters in_l1 = with(scattered, {{l1_hit_pct, 95}, {part_l1_wavefronts, 10}});
    EXPECT_LT(gain(ruling("uncoalesced-access", in_l1)), gain(ruling("uncoalesced-access", scattered)) / 2);
}

TEST(KernelRules, ATieIsNoHighConfidence) {
    KernelRuling clear = ruling("latency-bound", latency_bound());
    KernelRuling tie = ruling("latency-bound", with(latency_bound(), {{stall_barrier, 23.9}, {latency, 62}}));
    ASSERT_TRUE(clear.finding && tie.finding);
    EXPECT_EQ(clear.finding->confidence, Rating::high);
    EXPECT_EQ(tie.finding->confidence, Rating::medium);
}

}  // namespace
}  // namespace gpuprof
