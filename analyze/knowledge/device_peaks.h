// Peak rates of a GPU: dense arithmetic rate per number format, and memory bandwidth.
//
// Achieved rates are compared with these. A peak is the vendor's figure at boost clock; real kernels hit power limits
// first, so 60 to 90 % of it is already good. Compute peaks are derived: SMs x clock x operations per SM and clock (the
// arithmetic-throughput table of the CUDA C++ Programming Guide and the architecture whitepapers). device_peaks.def has
// the vendor's own figures for every GPU, and a test checks that the derivation agrees within 3 %. Unknown values are
// absent, never 0: a device outside the list has no bandwidth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyze/knowledge/math_type.h"

namespace gpuprof::inline knowledge {

// Properties of the device in a trace. Usually, only the name is always present.
struct DeviceQuery {
    std::string_view name = {};
    int cc_major = 0;
    int cc_minor = 0;
    std::optional<int> num_sms = {};
    std::optional<std::uint64_t> total_memory_bytes = {};
    std::optional<double> boost_mhz = {};        // the trace's maximum SM clock, used if the device is not in the list
    std::optional<double> memory_gb_per_s = {};  // the trace's theoretical bandwidth; overrides the list
    std::optional<int> warp_size = {};
};

// Reliability of a peak.
enum class PeakBasis : std::uint8_t {
    known_device,         // name, SM count and memory match the list
    known_device_scaled,  // name known, other SM count or memory (MIG slice, cut-down part): compute scaled
    capability_only,      // name unknown: rates of the generation; an upper bound, off by up to 2x
};

struct DevicePeaks {
    PeakBasis basis = PeakBasis::capability_only;
    std::string_view device;  // name in the list; empty for capability_only
    std::string_view source;  // source document of the figures
    int num_sms = 0;
    double boost_mhz = 0;
    // Dense TFLOP/s (int8: TOP/s). fp64 and fp32 on the SIMT cores, the others on tensor cores with fp32 accumulation.
    std::optional<double> fp64 = {};
    std::optional<double> fp64_tensor = {};
    std::optional<double> fp32 = {};
    std::optional<double> tf32 = {};
    std::optional<double> fp16 = {};
    std::optional<double> bf16 = {};
    std::optional<double> fp8 = {};
    std::optional<double> fp4 = {};
    std::optional<double> int8 = {};
    std::optional<double> memory_gb_per_s = {};  // 1e9 bytes per second, reads and writes together

    // The peak for one unit and format; absent if either is unknown or the device lacks the combination.
    [[nodiscard]] std::optional<double> tflops(MathPath path) const noexcept;
    // FLOP per byte above which arithmetic, not bandwidth, is the limit; absent without a bandwidth.
    [[nodiscard]] std::optional<double> ridge_flop_per_byte(MathPath path) const noexcept;
};

// Absent unless the name, or the capability and the SM count, are known.
[[nodiscard]] std::optional<DevicePeaks> find_peaks(const DeviceQuery& query) noexcept;

// How a chip is connected to its host, at best: PCIe, or NVLink-C2C.
struct HostConnection {
    int pcie_generation = 0;  // 0: NVLink-C2C
    int lanes = 16;
    // What copies of pinned memory reach; 0 if the generation is unknown.
    [[nodiscard]] double bytes_per_ns() const noexcept;
    [[nodiscard]] std::string name() const;  // "PCIe 4 x16", "NVLink-C2C"
};

// Absent if the chip is unknown, or shares the memory of its host.
[[nodiscard]] std::optional<HostConnection> host_connection(const DeviceQuery& query) noexcept;

// Bytes per ns in one direction of the links between GPUs of one host (NVLink, Infinity Fabric); 0 if there are none, or the chip is
// unknown.
[[nodiscard]] double peer_link_bytes_per_ns(const DeviceQuery& query) noexcept;

// "known device", "known device, scaled", "capability only".
[[nodiscard]] std::string_view to_string(PeakBasis basis) noexcept;

}  // namespace gpuprof::knowledge
