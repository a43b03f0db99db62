// How close a kernel came to the limits of the GPU, and which part of the GPU it was.
//
// A throughput is the maximum of its parts, each a share of its own peak: of 31 recorded kernels, the vendor's value is
// the maximum of the parts in every one. So the part that reaches it says what the kernel is bound by, and a few parts
// are enough for a lower bound.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyze/facts/kernels/measured_kernels.h"

namespace gpuprof::inline facts {

struct Throughput {
    double pct = 0;                           // of peak
    std::string_view part = {};               // that reaches it; empty if unknown
    std::optional<KernelMetric> metric = {};  // of that part
    std::optional<MemoryLevel> level = {};    // of the part, for memory
    std::size_t measured = 0, of = 0;         // parts
    bool lower_bound = false;                 // from some of the parts: it can be higher
    // Whether the parts that reach the maximum in practice were measured, so that a lower bound is close.
    bool close = true;
};

// Absent if too little was collected to say.
std::optional<Throughput> compute_throughput(const MeasuredKernel& kernel);
std::optional<Throughput> memory_throughput(const MeasuredKernel& kernel);

// The busiest part of a level of memory, of its peak; absent if none of its parts was collected.
std::optional<double> level_pct(const MeasuredKernel& kernel, MemoryLevel level);

// "71 %", or "at least 57 % (from 9 of 23 parts)".
std::string text_of(const Throughput& throughput);

// Above this share of a peak, the peak is what limits the kernel; Nsight Compute's guide uses the same threshold.
inline constexpr double kNearPeak = 60;  // percent
// Of the bandwidth of device memory that kernels can reach; the best of the recorded kernels reach 90 to 92 %.
inline constexpr double kAchievableDram = 92;  // percent

}  // namespace gpuprof::facts
