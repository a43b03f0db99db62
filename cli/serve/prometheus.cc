#include "cli/serve/prometheus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text/readable.h"
#include "core/base/text/utf8.h"
#include "core/schema/throttle.h"

namespace gpuprof::inline cli {
namespace {

constexpr MetricSet kCounters{Metric::energy, Metric::ecc_corrected, Metric::ecc_uncorrected, Metric::xid_errors};

struct BaseUnit {
    std::string_view suffix;
    double factor;
};
BaseUnit base_of(Unit unit) {
    switch (unit) {
        case Unit::percent: return {"_ratio", 0.01};
        case Unit::mib: return {"_bytes", kMib};
        case Unit::mb_per_s: return {"_bytes_per_second", 1e6};
        case Unit::watt: return {"_watts", 1};
        case Unit::joule: return {"_joules", 1};
        case Unit::celsius: return {"_celsius", 1};
        case Unit::megahertz: return {"_hertz", 1e6};
        default: return {"", 1};
    }
}

std::string escaped(char c) {
    if (c == '\n') return "\\n";
    return c == '\\' ? "\\\\" : std::string(1, c);
}

std::string help_escaped(std::string_view text) {
    std::string out;
    for (char c : text) out += escaped(c);
    return out;
}

void add_health(std::string& page, const LiveState& state, TimeNs now, std::string_view version,
                std::string_view problem) {
    Family(page, "gpu_profile_build_info", "gauge", "Constant 1; the version of gpu-profile.")
        .add(fmt::format("version=\"{}\"", label_escaped(version)), 1);
    Family(page, "gpu_profile_sampler_info", "gauge",
           "Constant 1; source of the samples (nvml, smi, or replay for a recorded series).")
        .add(fmt::format("backend=\"{}\"", label_escaped(state.backend())), 1);
    Family(page, "gpu_profile_sampler_up", "gauge", "1 while devices are sampled, 0 when sampling has ended.")
        .add("", problem.empty() ? 1 : 0);
    Family(page, "gpu_profile_sampling_interval_seconds", "gauge", "Requested interval between samples in seconds.")
        .add("", static_cast<double>(state.interval()) / 1e9);
    Family up(page, "gpu_profile_up", "gauge", "1 while samples of the device arrive in time, else 0.");
    for (const LiveDevice& device : state.devices()) up.add(labels_of(device.known), state.alive(device, now) ? 1 : 0);
    Family age(page, "gpu_profile_last_sample_age_seconds", "gauge", "Seconds since the last sample of the device.");
    for (const LiveDevice& device : state.devices())
        if (device.last != 0)
            age.add(labels_of(device.known), std::max(0.0, static_cast<double>(now - device.last) / 1e9));
}

void add_metric(std::string& page, const LiveState& state, TimeNs now, const MetricSpec& spec) {
    ExportedMetric as = exported(spec);
    Family family(page, as.name, as.counter ? "counter" : "gauge", spec.doc);
    for (const LiveDevice& device : state.devices()) {
        std::optional<double> value = state.value(device, spec.metric, now);
        if (value) family.add(labels_of(device.known), *value * as.factor);
    }
}

// The bits of throttle.reasons that limit clocks, each as 0 or 1.
void add_throttling(std::string& page, const LiveState& state, TimeNs now) {
    Family family(page, "gpu_profile_throttled", "gauge", "1 while clocks are throttled for this reason, else 0.");
    for (const LiveDevice& device : state.devices()) {
        std::optional<double> bits = state.value(device, Metric::throttle, now);
        if (!bits) continue;
        Throttle reasons = throttle_of(static_cast<std::uint64_t>(*bits));
        std::string labels = labels_of(device.known);
        family.add(labels + ",reason=\"power\"", reasons.power ? 1 : 0);
        family.add(labels + ",reason=\"heat\"", reasons.thermal ? 1 : 0);
        family.add(labels + ",reason=\"hardware\"", reasons.hardware ? 1 : 0);
    }
}

void add_limits(std::string& page, const LiveState& state) {
    auto add = [&](std::string_view name, std::string_view help, std::optional<double> SampledDevice::*limit,
                   double factor) {
        Family family(page, name, "gauge", help);
        for (const LiveDevice& device : state.devices())
            if (device.known.*limit) family.add(labels_of(device.known), *(device.known.*limit) * factor);
    };
    add("gpu_profile_power_limit_watts", "Power limit of the board in watts.", &SampledDevice::power_limit_w, 1);
    add("gpu_profile_clock_sm_max_hertz", "Maximum SM clock in hertz.", &SampledDevice::sm_clock_max_mhz, 1e6);
    add("gpu_profile_clock_mem_max_hertz", "Maximum memory clock in hertz.", &SampledDevice::mem_clock_max_mhz, 1e6);
}

struct DcgmField {
    Metric metric;
    std::string_view name, type;
    double factor;  // from the unit of the metric to that of the field
    std::string_view help;
};
constexpr DcgmField kDcgmFields[] = {
    {Metric::util_gpu, "DEV_GPU_UTIL", "gauge", 1, "GPU utilization in %."},
    {Metric::util_mem, "DEV_MEM_COPY_UTIL", "gauge", 1, "Memory utilization in %."},
    {Metric::mem_used, "DEV_FB_USED", "gauge", 1, "Device memory in use in MiB."},
    {Metric::mem_total, "DEV_FB_TOTAL", "gauge", 1, "Device memory in MiB."},
    {Metric::power, "DEV_POWER_USAGE", "gauge", 1, "Power draw in W."},
    {Metric::energy, "DEV_TOTAL_ENERGY_CONSUMPTION", "counter", 1000, "Energy since the driver was loaded in mJ."},
    {Metric::temp, "DEV_GPU_TEMP", "gauge", 1, "GPU temperature in degrees Celsius."},
    {Metric::sm_clock, "DEV_SM_CLOCK", "gauge", 1, "SM clock in MHz."},
    {Metric::mem_clock, "DEV_MEM_CLOCK", "gauge", 1, "Memory clock in MHz."},
    {Metric::ecc_corrected, "DEV_ECC_SBE_VOL_TOTAL", "counter", 1,
     "Corrected memory errors since the driver was loaded."},
    {Metric::ecc_uncorrected, "DEV_ECC_DBE_VOL_TOTAL", "counter", 1,
     "Uncorrected memory errors since the driver was loaded."},
    {Metric::gpm_sm_active, "PROF_SM_ACTIVE", "gauge", 0.01, "Ratio of SM cycles with at least one resident warp."},
    {Metric::gpm_sm_occupancy, "PROF_SM_OCCUPANCY", "gauge", 0.01, "Ratio of resident warps to the maximum."},
    {Metric::gpm_tensor, "PROF_PIPE_TENSOR_ACTIVE", "gauge", 0.01, "Ratio of cycles with a tensor pipe active."},
    {Metric::gpm_fp64, "PROF_PIPE_FP64_ACTIVE", "gauge", 0.01, "Ratio of cycles with the FP64 pipe active."},
    {Metric::gpm_fp32, "PROF_PIPE_FP32_ACTIVE", "gauge", 0.01, "Ratio of cycles with the FP32 pipe active."},
    {Metric::gpm_fp16, "PROF_PIPE_FP16_ACTIVE", "gauge", 0.01, "Ratio of cycles with the FP16 pipe active."},
    {Metric::gpm_dram, "PROF_DRAM_ACTIVE", "gauge", 0.01, "Ratio of the peak memory bandwidth in use."},
    {Metric::gpm_pcie_tx, "PROF_PCIE_TX_BYTES", "gauge", 1e6, "Bytes sent over PCIe per second."},
    {Metric::gpm_pcie_rx, "PROF_PCIE_RX_BYTES", "gauge", 1e6, "Bytes received over PCIe per second."},
    {Metric::gpm_nvlink_tx, "PROF_NVLINK_TX_BYTES", "gauge", 1e6, "Bytes sent over NVLink per second."},
    {Metric::gpm_nvlink_rx, "PROF_NVLINK_RX_BYTES", "gauge", 1e6, "Bytes received over NVLink per second."}};

}  // namespace

std::string dcgm_exposition(const LiveState& state, TimeNs now, std::string_view host) {
    std::string page;
    for (const DcgmField& field : kDcgmFields) {
        std::string name = fmt::format("DCGM_FI_{}", field.name);
        Family family(page, name, field.type, field.help);
        for (const LiveDevice& device : state.devices()) {
            std::optional<double> value = state.value(device, field.metric, now);
            if (!value) continue;
            const SampledDevice& known = device.known;
            std::int32_t number = known.nvml_index < 0 ? known.device : known.nvml_index;
            family.add(fmt::format("gpu=\"{0}\",UUID=\"{1}\",pci_bus_id=\"{2}\",device=\"nvidia{0}\",modelName=\"{3}\","
                                   "hostname=\"{4}\"",
                                   number, label_escaped(known.uuid), label_escaped(known.pci_bus_id),
                                   label_escaped(known.name), label_escaped(host)),
                       *value * field.factor);
        }
    }
    return page;
}

std::string metric_number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
    return fmt::format("{}", value);
}

void Family::add(std::string_view labels, std::optional<double> value, std::string_view suffix) {
    if (!value) return;
    if (!begun_) page_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name_, help_escaped(help_), name_, type_);
    begun_ = true;
    page_ += labels.empty() ? fmt::format("{}{} {}\n", name_, suffix, metric_number(*value))
                            : fmt::format("{}{}{{{}}} {}\n", name_, suffix, labels, metric_number(*value));
}

// The names of counters are without their suffix there; a counter without it, as DCGM has them, is none there.
std::string open_metrics(std::string_view page) {
    std::string out;
    while (!page.empty()) {
        std::string_view line = page.substr(0, page.find('\n'));
        page.remove_prefix(std::min(line.size() + 1, page.size()));
        std::size_t name = line.starts_with("# ") ? line.find(' ', 2) + 1 : 0;
        std::size_t end = name == 0 ? 0 : line.find(' ', name);
        constexpr std::string_view kTotal = "_total";
        constexpr std::string_view kType = "# TYPE ", kCounter = " counter";
        if (line.starts_with(kType) && line.ends_with(kCounter) && !line.substr(name, end - name).ends_with(kTotal))
            out.append(line.substr(0, end)).append(" unknown");
        else if (name != 0 && line.substr(name, end - name).ends_with(kTotal))
            out.append(line.substr(0, end - kTotal.size())).append(line.substr(end));
        else
            out.append(line);
        out += '\n';
    }
    return out + "# EOF\n";
}

std::string labels_of(const SampledDevice& device) {
    return fmt::format("gpu=\"{}\",uuid=\"{}\",name=\"{}\"", device.device, label_escaped(device.uuid),
                       label_escaped(device.name));
}

ExportedMetric exported(const MetricSpec& spec) {
    BaseUnit base = base_of(spec.unit);
    ExportedMetric as{.name = "gpu_profile_", .factor = base.factor, .counter = kCounters.has(spec.metric)};
    for (char c : spec.name) as.name += c == '.' ? '_' : c;
    as.name += base.suffix;
    if (as.counter) as.name += "_total";
    return as;
}

std::string label_escaped(std::string_view text) {
    std::string out;
    for (char c : valid_utf8(text)) out += c == '"' ? "\\\"" : escaped(c);
    return out;
}

std::string exposition(const LiveState& state, TimeNs now, std::string_view version, std::string_view problem) {
    std::string page;
    add_health(page, state, now, version, problem);
    for (const MetricSpec& spec : kMetrics) add_metric(page, state, now, spec);
    add_throttling(page, state, now);
    add_limits(page, state);
    return page;
}

}  // namespace gpuprof::cli
