// The share of the device's peak: by the list of GPUs, by the driver, for a part of a device, and why it is absent.
#include "measure/peak.h"

#include <gtest/gtest.h>

#include "capi/gpuprof.h"
#include "tests/unit/measure/sim_fixture.h"

namespace gpuprof::measure {
namespace {

const Hardware kH200 = {.name = "NVIDIA H200",
                        .cc_major = 9,
                        .cc_minor = 0,
                        .num_sms = 132,
                        .memory_clock_khz = 3'201'000,
                        .memory_bus_bits = 6144,
                        .memory_bytes = 140ULL << 30};

MathPath path(const char* name) {
    Result<MathPath> found = find_math_path(name);
    EXPECT_TRUE(found.ok()) << name;
    return found.ok() ? *found : MathPath{};
}

TEST(Peak, IsTheVendorsFigureOfAListedDevice) {
    Peak peak = peak_of(kH200, path("bf16"));
    EXPECT_DOUBLE_EQ(*peak.bytes_per_s, 4.8e12);
    EXPECT_NEAR(*peak.flop_per_s, 989.5e12, 989.5e12 * 0.03);
    EXPECT_NEAR(*peak_of(kH200, path("fp32")).flop_per_s, 67e12, 67e12 * 0.03);
    EXPECT_EQ(peak.source, "NVIDIA H200 datasheet (SXM) (known device)");
    EXPECT_EQ(peak.no_bandwidth + peak.no_arithmetic, "");
}

TEST(Peak, FollowsFromTheDriverForAnotherDevice) {
    Hardware hardware = kH200;
    hardware.name = "NVIDIA Graphics Device", hardware.cc_major = 42;
    Peak peak = peak_of(hardware, path("fp16"));
    EXPECT_DOUBLE_EQ(*peak.bytes_per_s, 2 * 3.201e9 * 6144 / 8);
    EXPECT_EQ(peak.source, "bandwidth from the driver's memory clock and bus width");
    EXPECT_FALSE(peak.flop_per_s);
    EXPECT_EQ(peak.no_arithmetic, "the arithmetic peak of NVIDIA Graphics Device for fp16 is unknown");
}

TEST(Peak, IsAbsentForAPartOfADevice) {
    Hardware part = kH200;
    part.name = "NVIDIA H200 MIG 1g.18gb", part.num_sms = 16, part.memory_bytes = 17ULL << 30;
    Peak peak = peak_of(part, path("fp16"));
    EXPECT_FALSE(peak.bytes_per_s);
    EXPECT_NE(peak.no_bandwidth.find("is a partition of a device"), std::string::npos);
    EXPECT_NEAR(*peak.flop_per_s, 989.5e12 * 16 / 132, 989.5e12 * 0.01) << "scaled by its multiprocessors";
}

TEST(Peak, SaysWhatItDoesNotKnow) {
    Peak peak = peak_of({.name = "Fake GPU"}, {});
    EXPECT_FALSE(peak.bytes_per_s || peak.flop_per_s);
    EXPECT_EQ(peak.source, "");
    EXPECT_EQ(peak.no_bandwidth, "the bandwidth of Fake GPU is unknown");
    EXPECT_EQ(find_math_path("fp7").error().code, ExitCode::usage);
}

TEST(Peak, IsInAMeasurement) {
    SimStage stage(
        "name NVIDIA H200; attribute 75 9; attribute 76 0; attribute 16 132; memory 150000000000; "
        "kernel 0 constant 10000; latency_ns 0");
    RunOptions options;
    options.bytes = 24e6, options.flops = 1e9;
    auto kernel = [](void*) { return SimStage::launch(0); };
    Measurement found = stage.measure(kernel, {.cold = false}, options);
    EXPECT_NEAR(*found.bytes_pct, 50, 0.1);
    EXPECT_FALSE(found.flop_pct);
    EXPECT_NE(all_notes(found).find("flops_as"), std::string::npos);
    options.flops_as = path("fp32");
    found = stage.measure(kernel, {.cold = false}, options);
    EXPECT_NEAR(*found.flop_pct, 100 * 1e14 / *found.peak_flop_per_s, 1);
    options.bytes.reset(), options.flops.reset();
    EXPECT_EQ(stage.measure(kernel, {.cold = false}, options).peak_source, "");
}

TEST(Peak, OptionsOfAnOlderHeaderAreTaken) {
    gpuprof_bench_options options = {};
    options.timer = "host", options.flops_as = "no such";
    options.size = sizeof options;
    gpuprof_bench* bench = nullptr;
    EXPECT_EQ(gpuprof_bench_open(&options, &bench), 2);
    options.size = offsetof(gpuprof_bench_options, flops_as);
    EXPECT_EQ(gpuprof_bench_open(&options, &bench), 0) << gpuprof_last_error();
    gpuprof_bench_free(bench);
    options.size = 8;
    EXPECT_EQ(gpuprof_bench_open(&options, &bench), 2);
}

}  // namespace
}  // namespace gpuprof::measure
