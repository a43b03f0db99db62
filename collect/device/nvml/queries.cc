// The only place that converts NVML's units (bytes, milliwatts, millijoules) to those of metrics.def.
// PCIe throughput is not queried, because the driver takes 20 ms per call.
#include "collect/device/nvml/queries.h"

#include "core/base/text/readable.h"

namespace gpuprof::inline device::nvml {
namespace {

// The metric numbers are those of nvmlGpmMetricId_t; the test of abi.h compares them with NVIDIA's.

// NVML reports rates in MiB/s.
constexpr double kMbPerMib = 1024.0 * 1024.0 / 1e6;

struct GpmRow {
    Metric metric;
    unsigned id;
};

constexpr GpmRow kRows[] = {
    {Metric::gpm_sm_active, kGpmSmUtil},     {Metric::gpm_sm_occupancy, kGpmSmOccupancy},
    {Metric::gpm_tensor, kGpmAnyTensorUtil}, {Metric::gpm_fp64, kGpmFp64Util},
    {Metric::gpm_fp32, kGpmFp32Util},        {Metric::gpm_fp16, kGpmFp16Util},
    {Metric::gpm_dram, kGpmDramBwUtil},      {Metric::gpm_pcie_tx, kGpmPcieTx},
    {Metric::gpm_pcie_rx, kGpmPcieRx},       {Metric::gpm_nvlink_tx, kGpmNvlinkTx},
    {Metric::gpm_nvlink_rx, kGpmNvlinkRx},
};

}  // namespace

Return Gpm::open(const Api& api, Device gpu, std::optional<unsigned> instance) {
    close();
    GpmSupport support{kGpmVersion, 0};
    Return code = api.nvmlGpmQueryDeviceSupport(gpu, &support);
    if (code != kSuccess) return code;
    if (support.is_supported_device != 1) return kNotSupported;
    api_ = &api;
    gpu_ = gpu;
    instance_ = instance;
    code = api.nvmlGpmSampleAlloc(&previous_);
    if (code == kSuccess) code = api.nvmlGpmSampleAlloc(&current_);
    if (code != kSuccess) close();
    if (code == kSuccess) request_ = std::make_unique<GpmMetricsGet>();
    return code;
}

void Gpm::close() {
    if (!api_) return;
    if (previous_) api_->nvmlGpmSampleFree(previous_);
    if (current_) api_->nvmlGpmSampleFree(current_);
    previous_ = current_ = nullptr;
    has_previous_ = false;
    api_ = nullptr;
}

Return Gpm::take(GpmSample sample) {
    return instance_ ? api_->nvmlGpmMigSampleGet(gpu_, *instance_, sample) : api_->nvmlGpmSampleGet(gpu_, sample);
}

Return Gpm::read(MetricSet wanted, Reading& to, std::vector<std::pair<Metric, Return>>& failed) {
    if (Return code = take(current_); code != kSuccess) {
        has_previous_ = false;
        return code;
    }
    std::swap(previous_, current_);  // previous_ is now the newer of the two
    if (!std::exchange(has_previous_, true)) return kSuccess;
    request_->version = kGpmVersion;
    request_->sample1 = current_;
    request_->sample2 = previous_;
    Metric asked[std::size(kRows)];
    unsigned count = 0;
    for (const GpmRow& row : kRows) {
        if (!wanted.has(row.metric)) continue;
        asked[count] = row.metric;
        request_->metrics[count++] = {row.id, kSuccess, 0, {}};
    }
    request_->num_metrics = count;
    Return code = api_->nvmlGpmMetricsGet(request_.get());
    for (unsigned i = 0; code == kSuccess && i < count; ++i) {
        const GpmMetric& answer = request_->metrics[i];
        if (answer.result == kSuccess)
            to.set(asked[i], spec_of(asked[i]).unit == Unit::mb_per_s ? answer.value * kMbPerMib : answer.value);
        else
            failed.emplace_back(asked[i], answer.result);
    }
    return code;
}

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
