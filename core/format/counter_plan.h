// The plan of a measurement of kernel counters: the launcher makes it, the injected library carries it out without any
// knowledge of metrics, and the evaluator reads from it what the images mean. One file in the folder of the spool files.
//
//   "GPUCTR1\0"  u32 crc of the rest  fields in the order of counter_plan.cc
//
// Numbers are little-endian, text is a u32 length and that many bytes. Images (availability, configuration) are CUPTI's
// and opaque. The decoder copies nothing and cannot fail half-way: a plan is complete or absent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::inline format {

// What one measurement covers: each chosen kernel launch, by replaying it; everything inside a range, in one pass; or each
// instruction of a chosen launch, by patching its code (SASS metrics; the plan has no configuration image then).
enum class CounterScope : std::uint32_t { kernels = 0, range = 1, instructions = 2 };
enum class CacheMode : std::uint32_t { warm = 0, flush = 1 };

struct PlannedMetric {
    std::string_view name, unit;  // the name ends in a zero that is not part of it
};
// A kernel to measure: all launches of this name and shape.
struct PlannedKernel {
    std::string_view name;  // demangled
    std::uint32_t grid[3]{}, block[3]{};
    std::uint64_t typical_ns = 0;  // duration in the trace; 0: unknown
    // For the evaluator, from the trace; 0: unknown.
    std::uint32_t registers = 0;
    std::uint64_t shared_bytes = 0;
};

struct CounterPlan {
    CounterScope scope = CounterScope::kernels;
    CacheMode cache = CacheMode::warm;
    std::uint32_t launches = 3, skip = 0;  // of each kernel and shape
    std::uint64_t budget_ns = 0;           // time in replays, per process; 0: unlimited
    std::uint64_t hang_ns = 0;             // a replay that takes longer is taken for hung
    std::uint32_t passes = 0;
    std::string_view chip, range;           // the range's name, if the scope is one
    std::string_view pattern;               // POSIX extended regular expression of demangled names; "": all
    std::string_view availability, config;  // images
    std::vector<PlannedMetric> metrics;
    std::vector<PlannedKernel> kernels;  // empty: every kernel that the pattern matches
    // For the evaluator.
    std::string_view device, cupti;   // name of the GPU, path of the library that planned
    std::string_view clock = "none";  // what clocks are locked to, as in profiled_kernel.clock_mode
    std::uint32_t cupti_version = 0, cc_major = 0, cc_minor = 0, sms = 0;
};

// The file's name in the folder of spool files.
inline constexpr const char* kCounterPlanFile = "counters.plan";

std::string encode(const CounterPlan& plan);
// A plan whose texts point into `bytes`; absent if they are not a complete plan.
std::optional<CounterPlan> decode_counter_plan(std::string_view bytes);

// A hash of an image, to be checked before CUPTI sees it: CUPTI trusts images, and crashes on damaged ones.
std::uint64_t image_hash(std::string_view image);

// Whether a kernel, by its name, communicates with other GPUs while it runs: NCCL's, NVSHMEM's, those of symmetric
// memory. Replaying one hangs, because the others do not replay with it.
bool is_device_collective(std::string_view kernel);

}  // namespace gpuprof::format
