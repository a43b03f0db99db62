// Device peaks: the derivation against the vendor's figure of every listed GPU, names as real traces spell them, and what stays unknown.
#include "analyze/knowledge/device_peaks.h"

#include <gtest/gtest.h>

#include <string>

namespace gpuprof {
namespace {

constexpr double NA = -1;
constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

struct Vendor {
    const char* name;
    int cc_major, cc_minor, sms;
    double bandwidth, memory_gib;
    const char* tier;
    double figures[9];
};

constexpr Vendor kVendor[] = {
#define GPU(name, major, minor, sms, boost, tensor, bandwidth, memory, tier, fp64, fp64t, fp32, tf32, fp16, bf16, fp8, \
            fp4, int8, source)                                                                                         \
    {name, major, minor, sms, bandwidth, memory, #tier, {fp64, fp64t, fp32, tf32, fp16, bf16, fp8, fp4, int8}},
#include "analyze/knowledge/device_peaks.def"
#undef GPU
};

TEST(DevicePeaks, DerivedWithinThreePercentOfTheVendorsFigures) {
    int derived = 0;
    for (const Vendor& gpu : kVendor) {
        SCOPED_TRACE(gpu.name);
        const auto bytes = static_cast<std::uint64_t>(gpu.memory_gib) * kGib;
        const auto peaks = find_peaks({gpu.name, gpu.cc_major, gpu.cc_minor, gpu.sms, bytes});
        ASSERT_TRUE(peaks);
        EXPECT_EQ(peaks->basis, PeakBasis::known_device);
        EXPECT_EQ(peaks->device, gpu.name);
        EXPECT_DOUBLE_EQ(peaks->memory_gb_per_s.value(), gpu.bandwidth);
        const std::optional<double> ours[] = {peaks->fp64, peaks->fp64_tensor, peaks->fp32, peaks->tf32, peaks->fp16,
                                              peaks->bf16, peaks->fp8,         peaks->fp4,  peaks->int8};
        for (int i = 0; i < 9; ++i) {
            SCOPED_TRACE(i);
            if (gpu.figures[i] == NA) continue;
            ASSERT_TRUE(ours[i]);
            EXPECT_NEAR(*ours[i] / gpu.figures[i], 1.0, 0.03);
            ++derived;
        }
    }
    EXPECT_GT(derived, 250);
}

TEST(DevicePeaks, ReadsTheNamesOfRealTraces) {
    const auto h200 = find_peaks({"NVIDIA H200", 9, 0, 132, 150109880320});
    ASSERT_TRUE(h200);
    EXPECT_EQ(h200->basis, PeakBasis::known_device);
    EXPECT_NEAR(h200->bf16.value(), 989.4, 0.5);
    EXPECT_NEAR(h200->fp32.value(), 66.9, 0.1);
    EXPECT_DOUBLE_EQ(h200->memory_gb_per_s.value(), 4800);

    const auto a100 = find_peaks({"NVIDIA A100-PG509-200", 8, 0, 108, 42297524224});
    EXPECT_EQ(a100->basis, PeakBasis::known_device);
    EXPECT_DOUBLE_EQ(a100->memory_gb_per_s.value(), 1555);

    EXPECT_EQ(find_peaks({"Tesla V100-SXM2-16GB", 7, 0, 80, 16914055168})->basis, PeakBasis::known_device);
    EXPECT_EQ(find_peaks({"Tesla T4", 7, 5, 40, 15655829504})->basis, PeakBasis::known_device);
    EXPECT_EQ(find_peaks({"NVIDIA GeForce RTX 3090", 8, 6, 82, 25438126080})->device, "RTX 3090");
    EXPECT_EQ(find_peaks({"NVIDIA GeForce RTX 3090 Ti", 8, 6, 84, 25438126080})->device, "RTX 3090 Ti");
    EXPECT_EQ(find_peaks({"NVIDIA L40", 8, 9, 142, 47810936832})->device, "L40");
    EXPECT_EQ(find_peaks({"NVIDIA L4", 8, 9, 58, 23657119744})->device, "L4");
    EXPECT_EQ(find_peaks({"NVIDIA A10G", 8, 6, 80, 23827906560})->device, "A10G");
    EXPECT_EQ(find_peaks({"NVIDIA H200 NVL", 9, 0, 132, 150109880320})->device, "H200 NVL");
    EXPECT_EQ(find_peaks({"NVIDIA GH200 480GB", 9, 0, 132, 101468602368})->device, "GH200 480GB");
    EXPECT_EQ(find_peaks({"NVIDIA B200", 10, 0, 148, 191383904256})->basis, PeakBasis::known_device);

    const auto mi250 = find_peaks({"AMD Radeon Graphics", 9, 0, 104, 68702699520});
    ASSERT_TRUE(mi250);
    EXPECT_DOUBLE_EQ(mi250->fp16.value(), 181);
    EXPECT_EQ(find_peaks({"AMD Instinct MI250X / MI250", 9, 0, 104, 68702699520})->device, "MI250");
    EXPECT_EQ(find_peaks({"AMD Instinct MI250X/MI250", 9, 0, 104, 68702699520})->device, "MI250");
    EXPECT_EQ(find_peaks({"AMD Instinct MI250X", 9, 0, 110, 68702699520})->device, "Instinct MI250X");
}

TEST(DevicePeaks, KnowsBoardsOfAmdWithoutAName) {
    auto named = [](int major, int minor, int sms, std::uint64_t bytes, int warp) {
        DeviceQuery query{"", major, minor, sms, bytes};
        query.warp_size = warp;
        auto peaks = find_peaks(query);
        return peaks ? peaks->device : std::string_view();
    };
    EXPECT_EQ(named(9, 4, 304, 206141652992, 64), "Instinct MI300X");
    EXPECT_EQ(named(9, 4, 304, 256 * kGib, 64), "Instinct MI325X");
    EXPECT_EQ(named(9, 4, 228, 128 * kGib, 64), "Instinct MI300A");
    EXPECT_EQ(named(9, 0, 110, 64 * kGib, 64), "Instinct MI250X");
    EXPECT_EQ(named(9, 5, 256, 288 * kGib, 64), "") << "MI350X or MI355X: they differ in their clock alone";
    EXPECT_EQ(named(9, 4, 304, 64 * kGib, 64), "");
    EXPECT_EQ(named(9, 0, 132, 141 * kGib, 32), "") << "not of AMD";
}

TEST(DevicePeaks, ScalesAMigSliceAndDropsItsBandwidth) {
    const auto slice = find_peaks({"NVIDIA H100 80GB HBM3 MIG 3g.40gb", 9, 0, 60, 42 * kGib});
    ASSERT_TRUE(slice);
    EXPECT_EQ(slice->basis, PeakBasis::known_device_scaled);
    EXPECT_NEAR(slice->bf16.value(), 989.4 * 60 / 132, 0.5);
    EXPECT_FALSE(slice->memory_gb_per_s);
}

TEST(DevicePeaks, FallsBackToTheCapabilityWithoutBandwidth) {
    const auto unknown = find_peaks({"NVIDIA Z9000", 9, 0, 100, 80 * kGib});
    ASSERT_TRUE(unknown);
    EXPECT_EQ(unknown->basis, PeakBasis::capability_only);
    EXPECT_NEAR(unknown->bf16.value(), 100 * 1830e-6 * 4096, 0.1);
    EXPECT_FALSE(unknown->memory_gb_per_s);
    EXPECT_FALSE(unknown->ridge_flop_per_byte({MathUnit::tensor, MathType::bf16}));

    DeviceQuery laptop{"NVIDIA GeForce RTX 4090 Laptop GPU", 8, 9, 76, 16 * kGib};
    laptop.boost_mhz = 2040;
    EXPECT_EQ(find_peaks(laptop)->basis, PeakBasis::capability_only);
    EXPECT_NEAR(find_peaks(laptop)->fp32.value(), 76 * 2040e-6 * 256, 0.01);

    // CUPTI's device record has the bandwidth itself.
    DeviceQuery with_bandwidth{"NVIDIA Z9000", 9, 0, 100};
    with_bandwidth.memory_gb_per_s = 4000;
    EXPECT_DOUBLE_EQ(find_peaks(with_bandwidth)->memory_gb_per_s.value(), 4000);
}

TEST(DevicePeaks, AbstainsOnUnknownDevices) {
    EXPECT_FALSE(find_peaks({}));
    EXPECT_FALSE(find_peaks({"NVIDIA Z9000", 9, 0}));
    EXPECT_FALSE(find_peaks({"NVIDIA Z9000", 42, 0, 100}));
    EXPECT_FALSE(find_peaks({"AMD Radeon Graphics", 9, 0, 60, 16 * kGib}));
    EXPECT_FALSE(find_peaks({"AMD Instinct MI999", 9, 0, 104}));
    // An AMD wavefront under a name that says nothing: 9.0 is gfx90a there, not Hopper.
    DeviceQuery anonymous{"", 9, 0, 104};
    anonymous.warp_size = 64;
    EXPECT_FALSE(find_peaks(anonymous));
}

TEST(DevicePeaks, AnswersByMathPath) {
    const auto h200 = find_peaks({"NVIDIA H200", 9, 0, 132, 150109880320});
    EXPECT_EQ(h200->tflops({MathUnit::tensor, MathType::bf16}), h200->bf16);
    EXPECT_EQ(h200->tflops({MathUnit::tensor, MathType::fp16_or_bf16}), h200->fp16);
    EXPECT_EQ(h200->tflops({MathUnit::simt, MathType::fp32}), h200->fp32);
    EXPECT_FALSE(h200->tflops({MathUnit::tensor, MathType::fp4}));
    EXPECT_FALSE(h200->tflops({MathUnit::unknown, MathType::fp32}));
    EXPECT_FALSE(h200->tflops({}));
    // 66.9 TFLOP/s over 4.8 TB/s.
    EXPECT_NEAR(h200->ridge_flop_per_byte({MathUnit::simt, MathType::fp32}).value(), 13.94, 0.01);
}

}  // namespace
}  // namespace gpuprof
