// The metric numbers are those of nvmlGpmMetricId_t; the test of abi.h compares them with NVIDIA's.
#include "collect/device/nvml/gpm.h"

namespace gpuprof::inline device::nvml {

namespace {

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
    api_ = &api, gpu_ = gpu, instance_ = instance;
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

}  // namespace gpuprof::device::nvml
