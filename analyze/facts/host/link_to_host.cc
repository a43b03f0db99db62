#include "analyze/facts/host/link_to_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "analyze/facts/facts.h"
#include "analyze/facts/host/host_copies.h"
#include "analyze/facts/kernels/op_rates.h"
#include "analyze/knowledge/device_peaks.h"
#include "core/schema/metrics.h"

namespace gpuprof::inline facts {
namespace {

constexpr std::int64_t kMeasurable = 1 << 20;  // bytes from which a copy shows its bandwidth
constexpr double kFastest = 55;                // bytes per ns: pinned copies measured on PCIe 5 (H200)
// Room around what copies reach of a link that is known: hosts differ.
constexpr double kSlowOfLink = 0.85, kFastOfLink = 1.06;
// A chip may sit in a slot of the generation before, or with half of its lanes, and deliver a tenth less than usual.
constexpr double kSlowOfChip = 0.45;

struct RecordedRates {
    std::vector<double> pinned;
    double pinned_bytes = 0, pinned_ns = 0;
    double fastest = 0;  // of all large copies between host and device
};

RecordedRates recorded_rates(const Trace& trace) {
    const MemcpyTable& copies = trace.memcpy();
    CopyPaths paths(trace);
    RecordedRates found;
    for (Row row = 0; row < copies.rows; ++row) {
        if (!paths.host_and_device(row) || copies.bytes.value_or(row, 0) < kMeasurable || copies.dur[row] <= 0)
            continue;
        auto bytes = static_cast<double>(copies.bytes[row]), time = static_cast<double>(copies.dur[row]);
        found.fastest = std::max(found.fastest, bytes / time);
        if (!paths.pinned(row)) continue;
        found.pinned.push_back(bytes / time);
        found.pinned_bytes += bytes;
        found.pinned_ns += time;
    }
    std::sort(found.pinned.begin(), found.pinned.end());
    return found;
}

// The slowest link of the devices with work, as their driver reported it: an idle link is slower, so the fastest sample of a device counts.
std::optional<HostConnection> sampled_connection(const Trace& trace) {
    const SampleTable& samples = trace.tables().sample;
    StringId generation = trace.strings().find(spec_of(Metric::pcie_gen).name),
             width = trace.strings().find(spec_of(Metric::pcie_width).name);
    if (generation == kNoString || width == kNoString) return std::nullopt;
    std::map<std::int32_t, HostConnection> found;
    for (Row row = 0; row < samples.rows; ++row) {
        StringId metric = samples.metric.value_or(row, kNoString);
        if ((metric != generation && metric != width) || !samples.value.has(row)) continue;
        HostConnection& device =
            found.try_emplace(samples.device.value_or(row, -1), HostConnection{0, 0}).first->second;
        int& value = metric == generation ? device.pcie_generation : device.lanes;
        value = std::max(value, static_cast<int>(samples.value[row]));
    }
    std::optional<HostConnection> slowest;
    for (const auto& [device, each] : found)
        if (each.bytes_per_ns() > 0 && (!slowest || each.bytes_per_ns() < slowest->bytes_per_ns())) slowest = each;
    return slowest;
}

std::optional<HostConnection> connection_of_chips(const Trace& trace) {
    std::optional<HostConnection> slowest;
    const DeviceTable& devices = trace.tables().device;
    for (Row row = 0; row < devices.rows; ++row) {
        std::optional<HostConnection> each = host_connection(device_query(trace, row));
        if (!each) return std::nullopt;
        if (!slowest || each->bytes_per_ns() < slowest->bytes_per_ns()) slowest = each;
    }
    return slowest;
}

}  // namespace

std::string HostLink::text() const {
    std::string rate = fmt::format("{:.1f} GB/s ({:.1f} to {:.1f})", central, low, high);
    switch (basis) {
        case LinkBasis::copies: return rate + ", as pinned copies of this recording";
        case LinkBasis::sampled: return fmt::format("{}, as {} delivers, which the driver reported", rate, name);
        case LinkBasis::chip: return fmt::format("{}, as {} of such a GPU delivers", rate, name);
        case LinkBasis::unknown: return rate + ", because the link to the host is unknown";
    }
    return rate;
}

HostLink HostLink::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    RecordedRates rates = recorded_rates(trace);
    if (!rates.pinned.empty()) {
        const std::vector<double>& all = rates.pinned;
        return {LinkBasis::copies, all[all.size() / 10], rates.pinned_bytes / rates.pinned_ns,
                all[all.size() - 1 - all.size() / 10], ""};
    }
    HostLink found;
    auto known = [&](const HostConnection& link, LinkBasis basis, double slow) {
        double rate = link.bytes_per_ns();
        found = {basis, slow * rate, rate, kFastOfLink * rate, link.name()};
    };
    if (std::optional<HostConnection> link = sampled_connection(trace))
        known(*link, LinkBasis::sampled, kSlowOfLink);
    else if ((link = connection_of_chips(trace)))
        known(*link, LinkBasis::chip, kSlowOfChip);
    else
        found = {LinkBasis::unknown, rates.fastest, rates.fastest, std::max(rates.fastest, kFastest), ""};
    // Pageable copies pass through the same link.
    for (double* rate : {&found.low, &found.central, &found.high}) *rate = std::max(*rate, rates.fastest);
    return found;
}

}  // namespace gpuprof::facts
