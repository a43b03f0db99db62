// Finds the device in the list and derives its peaks.
//
// A device matches a line if the line's name occurs in its name as whole words ("L4" is not in "L40"). Among several
// lines, the one with matching memory wins, then the longest name ("H200 NVL" before "H200"). Laptop parts share only
// names with desktop parts, so they never match. Some versions of ROCm report no name: then the only line with the
// device's capability, SMs and memory is the device. ROCm calls an MI250 "MI250X / MI250"; the SMs decide.
#include "analyze/knowledge/device_peaks.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "analyze/knowledge/sm_limits.h"
#include "core/base/text/ascii.h"

namespace gpuprof::inline knowledge {
namespace {

enum class Tier : std::uint8_t { full, geforce, half, declared };

constexpr double NA = -1;

struct PeakRates {
    double fp64, fp64_tensor, fp32, tf32, fp16, bf16, fp8, fp4, int8;
};

struct Gpu {
    std::string_view name;
    int cc_major, cc_minor, sms;
    double boost_mhz, tensor_mhz, memory_gb_per_s, memory_gib;
    Tier tier;
    PeakRates declared;
    std::string_view source;
};

constexpr Gpu kGpus[] = {
#define GPU(name, major, minor, sms, boost, tensor, bandwidth, memory, tier, fp64, fp64t, fp32, tf32, fp16, bf16, fp8, \
            fp4, int8, source)                                                                                         \
    {name,   major,     minor,  sms,        boost,                                                                     \
     tensor, bandwidth, memory, Tier::tier, {fp64, fp64t, fp32, tf32, fp16, bf16, fp8, fp4, int8},                     \
     source},
#include "analyze/knowledge/device_peaks.def"
#undef GPU
};

// Floating-point operations (a multiply-add is two) per SM and clock, dense, with fp32 accumulation at the chip's full
// rate. CUDA C++ Programming Guide, "Arithmetic Instructions"; tensor rates from the whitepapers of Volta, Turing,
// GA100, GA102, Ada, Hopper, Blackwell.
struct Rates {
    int cc_major, cc_minor;
    double typical_mhz;  // boost clock of the generation's common part, for devices not in the list
    PeakRates per_clock;
};

constexpr Rates kRates[] = {
    {5, 0, 1100, {8, NA, 256, NA, NA, NA, NA, NA, NA}},
    {5, 2, 1100, {8, NA, 256, NA, NA, NA, NA, NA, NA}},
    {5, 3, 1000, {8, NA, 256, NA, NA, NA, NA, NA, NA}},
    {6, 0, 1480, {64, NA, 128, NA, NA, NA, NA, NA, NA}},
    {6, 1, 1600, {8, NA, 256, NA, NA, NA, NA, NA, NA}},
    {6, 2, 1300, {8, NA, 256, NA, NA, NA, NA, NA, NA}},
    {7, 0, 1530, {64, NA, 128, NA, 1024, NA, NA, NA, NA}},
    {7, 5, 1600, {4, NA, 128, NA, 1024, NA, NA, NA, 2048}},
    {8, 0, 1410, {64, 128, 128, 1024, 2048, 2048, NA, NA, 4096}},
    {8, 6, 1700, {4, NA, 256, 512, 1024, 1024, NA, NA, 2048}},
    {8, 7, 1300, {4, NA, 256, 1024, 2048, 2048, NA, NA, 4096}},
    {8, 9, 2500, {4, NA, 256, 512, 1024, 1024, 2048, NA, 2048}},
    {9, 0, 1830, {128, 256, 256, 2048, 4096, 4096, 8192, NA, 8192}},
    {10, 0, 1850, {128, 128, 256, 4096, 8192, 8192, 16384, 32768, 16384}},
    {10, 3, 1850, {NA, NA, 256, 4096, 8192, 8192, 16384, 49152, NA}},
    {11, 0, 1575, {NA, NA, 256, NA, 8192, 8192, 16384, 32768, 16384}},
    {12, 0, 2450, {4, NA, 256, 512, 1024, 1024, 2048, 4096, 2048}},
};

constexpr double kMemoryTolerance = 0.12;  // with ECC and the driver's reserve, a "16 GB" T4 reports 14.6 GiB

bool contains_words(std::string_view name, std::string_view words) noexcept {
    for (std::size_t at = name.find(words); at != std::string_view::npos; at = name.find(words, at + 1)) {
        const std::size_t end = at + words.size();
        const bool starts = at == 0 || !is_alphanumeric(name[at - 1]);
        if (starts && (end == name.size() || !is_alphanumeric(name[end]))) return true;
    }
    return false;
}

bool memory_agrees(const Gpu& gpu, std::optional<std::uint64_t> bytes) noexcept {
    if (!bytes) return true;
    const double gib = static_cast<double>(*bytes) / (1024.0 * 1024.0 * 1024.0);
    return std::abs(gib - gpu.memory_gib) <= kMemoryTolerance * gpu.memory_gib;
}

// Absent for boards that differ only in their clock (MI350X, MI355X).
const Gpu* find_by_properties(const DeviceQuery& query) noexcept {
    if (vendor_of(query.name, query.warp_size) != GpuVendor::amd || !query.total_memory_bytes) return nullptr;
    const Gpu* only = nullptr;
    for (const Gpu& gpu : kGpus) {
        if (query.cc_major != gpu.cc_major || query.cc_minor != gpu.cc_minor || query.num_sms != gpu.sms ||
            !memory_agrees(gpu, query.total_memory_bytes) || !gpu.source.starts_with("AMD"))
            continue;
        if (only && only->boost_mhz != gpu.boost_mhz) return nullptr;
        only = &gpu;
    }
    return only;
}

const Gpu* find_gpu(const DeviceQuery& query) noexcept {
    for (std::string_view part : {"Laptop", "Max-Q", "Mobile"}) {
        if (query.name.find(part) != std::string_view::npos) return nullptr;
    }
    if (query.name.empty()) return find_by_properties(query);
    const Gpu* best = nullptr;
    for (const Gpu& gpu : kGpus) {
        if (gpu.source.starts_with("AMD") && query.num_sms && *query.num_sms != gpu.sms) continue;
        const bool same_capability =
            query.cc_major == 0 || (query.cc_major == gpu.cc_major && query.cc_minor == gpu.cc_minor);
        if (!same_capability || !contains_words(query.name, gpu.name)) continue;
        const bool agrees = memory_agrees(gpu, query.total_memory_bytes);
        const bool best_agrees = best && memory_agrees(*best, query.total_memory_bytes);
        const bool longer = best && gpu.name.size() > best->name.size();
        if (!best || (agrees && !best_agrees) || (agrees == best_agrees && longer)) best = &gpu;
    }
    return best;
}

const Rates* find_rates(int cc_major, int cc_minor) noexcept {
    for (const Rates& rates : kRates) {
        if (rates.cc_major == cc_major && rates.cc_minor == cc_minor) return &rates;
    }
    return nullptr;
}

std::optional<double> known(double figure) noexcept {
    return figure > 0 ? std::optional<double>(figure) : std::nullopt;
}

void set_figures(DevicePeaks& peaks, const PeakRates& figures) noexcept {
    peaks.fp64 = known(figures.fp64);
    peaks.fp64_tensor = known(figures.fp64_tensor);
    peaks.fp32 = known(figures.fp32);
    peaks.tf32 = known(figures.tf32);
    peaks.fp16 = known(figures.fp16);
    peaks.bf16 = known(figures.bf16);
    peaks.fp8 = known(figures.fp8);
    peaks.fp4 = known(figures.fp4);
    peaks.int8 = known(figures.int8);
}

// TFLOP/s of every format. Datasheets quote FP64 tensor cores at boost clock, unlike the narrow formats.
PeakRates derive(const Rates& rates, Tier tier, int sms, double boost_mhz, double tensor_mhz) noexcept {
    const double simt = sms * boost_mhz * 1e-6;
    const double tensor = sms * tensor_mhz * 1e-6;
    const double float_share = tier == Tier::full ? 1.0 : 0.5;
    const double int_share = tier == Tier::half ? 0.5 : 1.0;
    const PeakRates& per_clock = rates.per_clock;
    return {per_clock.fp64 * simt,
            per_clock.fp64_tensor * simt,
            per_clock.fp32 * simt,
            per_clock.tf32 * tensor * float_share,
            per_clock.fp16 * tensor * float_share,
            per_clock.bf16 * tensor * float_share,
            per_clock.fp8 * tensor * float_share,
            per_clock.fp4 * tensor,
            per_clock.int8 * tensor * int_share};
}

std::optional<DevicePeaks> peaks_of_listed(const Gpu& gpu, const DeviceQuery& query) noexcept {
    const int sms = query.num_sms && *query.num_sms > 0 ? *query.num_sms : gpu.sms;
    const bool same_sms = sms == gpu.sms;
    const bool same_memory = memory_agrees(gpu, query.total_memory_bytes);
    DevicePeaks peaks;
    peaks.device = gpu.name;
    peaks.source = gpu.source;
    peaks.num_sms = sms;
    peaks.boost_mhz = gpu.boost_mhz;
    peaks.basis = same_sms && same_memory ? PeakBasis::known_device : PeakBasis::known_device_scaled;
    if (same_memory) peaks.memory_gb_per_s = gpu.memory_gb_per_s;
    const Rates* rates = find_rates(gpu.cc_major, gpu.cc_minor);
    if (gpu.tier == Tier::declared || !rates) {
        if (!same_sms) return std::nullopt;  // figures not derived from SM counts cannot be scaled by them
        set_figures(peaks, gpu.declared);
    } else {
        set_figures(peaks, derive(*rates, gpu.tier, sms, gpu.boost_mhz, gpu.tensor_mhz));
    }
    return peaks;
}

std::optional<DevicePeaks> peaks_of_capability(const DeviceQuery& query) noexcept {
    if (vendor_of(query.name, query.warp_size) == GpuVendor::amd) return std::nullopt;
    const Rates* rates = find_rates(query.cc_major, query.cc_minor);
    if (!rates || !query.num_sms || *query.num_sms <= 0) return std::nullopt;
    DevicePeaks peaks;
    peaks.source = "CUDA C++ Programming Guide, arithmetic throughput by compute capability";
    peaks.num_sms = *query.num_sms;
    peaks.boost_mhz = query.boost_mhz.value_or(rates->typical_mhz);
    set_figures(peaks, derive(*rates, Tier::full, peaks.num_sms, peaks.boost_mhz, peaks.boost_mhz));
    return peaks;
}

std::optional<double> tensor_peak(const DevicePeaks& peaks, MathType type) noexcept {
    switch (type) {
        case MathType::fp64: return peaks.fp64_tensor;
        case MathType::tf32: return peaks.tf32;
        case MathType::fp16:
        case MathType::fp16_or_bf16: return peaks.fp16;
        case MathType::bf16: return peaks.bf16;
        case MathType::fp8: return peaks.fp8;
        case MathType::fp4: return peaks.fp4;
        case MathType::int8: return peaks.int8;
        case MathType::fp32:
        case MathType::unknown: return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

std::optional<double> DevicePeaks::tflops(MathPath path) const noexcept {
    if (path.unit == MathUnit::tensor) return tensor_peak(*this, path.type);
    if (path.unit != MathUnit::simt) return std::nullopt;
    if (path.type == MathType::fp64) return fp64;
    if (path.type == MathType::fp32) return fp32;
    return std::nullopt;
}

std::optional<double> DevicePeaks::ridge_flop_per_byte(MathPath path) const noexcept {
    const std::optional<double> peak = tflops(path);
    if (!peak || !memory_gb_per_s) return std::nullopt;
    return *peak * 1e3 / *memory_gb_per_s;
}

std::optional<DevicePeaks> find_peaks(const DeviceQuery& query) noexcept {
    const Gpu* gpu = find_gpu(query);
    std::optional<DevicePeaks> peaks = gpu ? peaks_of_listed(*gpu, query) : peaks_of_capability(query);
    if (peaks && query.memory_gb_per_s) peaks->memory_gb_per_s = query.memory_gb_per_s;
    return peaks;
}

double HostConnection::bytes_per_ns() const noexcept {
    // Of pinned copies through 16 lanes: measured on an H200 (PCIe 5); of the others, the same part or less of what the lanes carry.
    constexpr std::array kDelivered{0.0, 3.1, 6.2, 12.5, 25.0, 55.0, 110.0};
    constexpr double kDeliveredByC2C = 375;  // of 450 in one direction
    if (pcie_generation == 0) return kDeliveredByC2C;
    if (pcie_generation < 0 || static_cast<std::size_t>(pcie_generation) >= kDelivered.size()) return 0;
    return kDelivered[static_cast<std::size_t>(pcie_generation)] * lanes / 16;
}

std::string HostConnection::name() const {
    return pcie_generation == 0 ? "NVLink-C2C" : fmt::format("PCIe {} x{}", pcie_generation, lanes);
}

// From the datasheets that device_peaks.def names.
std::optional<HostConnection> host_connection(const DeviceQuery& query) noexcept {
    auto is = [&](std::string_view words) { return contains_words(query.name, words); };
    if (vendor_of(query.name, query.warp_size) == GpuVendor::amd) {
        if (is("MI300X") || is("MI325X") || is("MI350X") || is("MI355X")) return HostConnection{5, 16};
        if (is("MI100") || is("MI210") || is("MI250") || is("MI250X") || is("Radeon Graphics"))
            return HostConnection{4, 16};
        return std::nullopt;
    }
    if (is("GH200") || is("GH200 480GB") || is("GB200") || is("GB300")) return HostConnection{0, 0};
    if (is("A2")) return HostConnection{4, 8};
    switch (10 * query.cc_major + query.cc_minor) {
        case 60:
        case 61:
        case 70:
        case 75: return HostConnection{3, 16};
        case 80:
        case 86:
        case 89: return HostConnection{4, 16};
        case 90:
        case 100:
        case 120: return HostConnection{5, 16};
        case 103: return HostConnection{6, 16};
        default: return std::nullopt;  // others share the memory of their host, or are unknown
    }
}

double peer_link_bytes_per_ns(const DeviceQuery& query) noexcept {
    struct Link {
        std::string_view words;
        double bytes_per_ns;
    };
    // Half of what the datasheets give, which count both directions. The first that matches.
    constexpr std::array kLinks{
        Link{"NVL", 0},     Link{"V100-SXM2", 150}, Link{"A100-SXM4", 300}, Link{"A100-SXM4-40GB", 300},
        Link{"H100", 450},  Link{"H200", 450},      Link{"H20", 450},       Link{"GH200", 450},
        Link{"B100", 900},  Link{"B200", 900},      Link{"B300", 900},      Link{"GB200", 900},
        Link{"GB300", 900}, Link{"MI300X", 448},    Link{"MI325X", 448},    Link{"MI350X", 538},
        Link{"MI355X", 538}};
    if (query.name.find("PCI") != std::string_view::npos) return 0;
    for (const Link& link : kLinks)
        if (contains_words(query.name, link.words)) return link.bytes_per_ns;
    return 0;
}

std::string_view to_string(PeakBasis basis) noexcept {
    switch (basis) {
        case PeakBasis::known_device: return "known device";
        case PeakBasis::known_device_scaled: return "known device, scaled";
        case PeakBasis::capability_only: return "capability only";
    }
    return "";
}

}  // namespace gpuprof::knowledge
