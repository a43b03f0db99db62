// The only place that converts NVML's units (bytes, milliwatts, millijoules) to those of metrics.def.
// PCIe throughput is not queried, because the driver takes 20 ms per call.
#include "collect/device/nvml/queries.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline device::nvml {

namespace {

Return read_utilization(const Api& api, Device device, Reading& to) {
    Utilization utilization{};
    Return code = api.nvmlDeviceGetUtilizationRates(device, &utilization);
    if (code != kSuccess) return code;
    to.set(Metric::util_gpu, utilization.gpu);
    to.set(Metric::util_mem, utilization.memory);
    return code;
}

Return read_memory_metrics(const Api& api, Device device, Reading& to) {
    Memory memory{};
    Return code = read_memory(api, device, memory);
    if (code != kSuccess) return code;
    to.set(Metric::mem_total, static_cast<double>(memory.total) / kMib);
    to.set(Metric::mem_used, static_cast<double>(memory.used) / kMib);
    return code;
}

Return read_power(const Api& api, Device device, Reading& to) {
    unsigned milliwatt = 0;
    Return code = api.nvmlDeviceGetPowerUsage(device, &milliwatt);
    if (code == kSuccess) to.set(Metric::power, milliwatt / 1e3);
    return code;
}

Return read_energy(const Api& api, Device device, Reading& to) {
    unsigned long long millijoule = 0;
    Return code = api.nvmlDeviceGetTotalEnergyConsumption(device, &millijoule);
    if (code == kSuccess) to.set(Metric::energy, static_cast<double>(millijoule) / 1e3);
    return code;
}

Return read_temperature(const Api& api, Device device, Reading& to) {
    unsigned celsius = 0;
    Return code = api.nvmlDeviceGetTemperature(device, kTemperatureGpu, &celsius);
    if (code == kSuccess) to.set(Metric::temp, celsius);
    return code;
}

template <unsigned Clock, Metric Of>
Return read_clock(const Api& api, Device device, Reading& to) {
    unsigned megahertz = 0;
    Return code = api.nvmlDeviceGetClockInfo(device, Clock, &megahertz);
    if (code == kSuccess) to.set(Of, megahertz);
    return code;
}

Return read_pstate(const Api& api, Device device, Reading& to) {
    constexpr unsigned kPstateUnknown = 32;  // NVML_PSTATE_UNKNOWN
    unsigned pstate = 0;
    Return code = api.nvmlDeviceGetPerformanceState(device, &pstate);
    if (code == kSuccess && pstate == kPstateUnknown) return kNotSupported;
    if (code == kSuccess) to.set(Metric::pstate, pstate);
    return code;
}

Return read_throttle(const Api& api, Device device, Reading& to) {
    unsigned long long reasons = 0;
    Return code = api.nvmlDeviceGetCurrentClocksEventReasons(device, &reasons);
    if (code == kSuccess) to.set(Metric::throttle, static_cast<double>(reasons));
    return code;
}

Return read_pcie_generation(const Api& api, Device device, Reading& to) {
    unsigned generation = 0;
    Return code = api.nvmlDeviceGetCurrPcieLinkGeneration(device, &generation);
    if (code == kSuccess) to.set(Metric::pcie_gen, generation);
    return code;
}

Return read_pcie_width(const Api& api, Device device, Reading& to) {
    unsigned width = 0;
    Return code = api.nvmlDeviceGetCurrPcieLinkWidth(device, &width);
    if (code == kSuccess) to.set(Metric::pcie_width, width);
    return code;
}

template <unsigned Type, Metric Of>
Return read_ecc(const Api& api, Device device, Reading& to) {
    unsigned long long count = 0;
    Return code = api.nvmlDeviceGetTotalEccErrors(device, Type, kEccVolatile, &count);
    if (code == kSuccess) to.set(Of, static_cast<double>(count));
    return code;
}

constexpr Query kQueries[] = {
    {{Metric::util_gpu, Metric::util_mem}, "nvmlDeviceGetUtilizationRates", read_utilization},
    {{Metric::mem_used, Metric::mem_total}, "nvmlDeviceGetMemoryInfo", read_memory_metrics},
    {{Metric::power}, "nvmlDeviceGetPowerUsage", read_power},
    {{Metric::temp}, "nvmlDeviceGetTemperature", read_temperature},
    {{Metric::sm_clock}, "nvmlDeviceGetClockInfo", read_clock<kClockSm, Metric::sm_clock>},
    {{Metric::mem_clock}, "nvmlDeviceGetClockInfo", read_clock<kClockMem, Metric::mem_clock>},
    {{Metric::throttle}, "nvmlDeviceGetCurrentClocksEventReasons", read_throttle},
    {{Metric::pstate}, "nvmlDeviceGetPerformanceState", read_pstate},
    {{Metric::pcie_gen}, "nvmlDeviceGetCurrPcieLinkGeneration", read_pcie_generation},
    {{Metric::pcie_width}, "nvmlDeviceGetCurrPcieLinkWidth", read_pcie_width},
    {{Metric::ecc_corrected}, "nvmlDeviceGetTotalEccErrors", read_ecc<kEccCorrected, Metric::ecc_corrected>},
    {{Metric::ecc_uncorrected}, "nvmlDeviceGetTotalEccErrors", read_ecc<kEccUncorrected, Metric::ecc_uncorrected>},
    {{Metric::energy}, "nvmlDeviceGetTotalEnergyConsumption", read_energy},
};

}  // namespace

std::span<const Query> queries() { return kQueries; }

Return read_memory(const Api& api, Device device, Memory& memory) {
    MemoryV2 newer{};
    newer.version = kMemoryV2;
    Return code = api.nvmlDeviceGetMemoryInfo_v2(device, &newer);
    // Version 1 counts memory that the driver reserves as used; still better than nothing.
    if (reaction_to(code) == Reaction::absent) return api.nvmlDeviceGetMemoryInfo(device, &memory);
    memory = {newer.total, newer.free, newer.used};
    return code;
}

}  // namespace gpuprof::device::nvml
