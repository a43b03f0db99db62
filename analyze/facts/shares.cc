#include "analyze/facts/shares.h"

#include <cstdint>

#include "analyze/facts/activity.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/host/host_copies.h"
#include "analyze/facts/idle/gaps.h"
#include "core/base/parallel.h"

namespace gpuprof::inline facts {
namespace {

// A sum over devices, capped; only thousands of devices over weeks reach the cap.
void add_capped(DurNs& sum, DurNs more) {
    if (__builtin_add_overflow(sum, more, &sum)) sum = INT64_MAX;
}

// Copies that cross a bus: all except copies within a device.
IntervalSet transfers_of(const Trace& trace, const DeviceActivity& device) {
    const MemcpyTable& copies = trace.memcpy();
    CopyPaths paths(trace);
    IntervalSet found;
    for (Row row = 0; row < copies.rows; ++row)
        if (copies.device.value_or(row, -1) == device.device && !paths.stays_on_device(row))
            add_merged(found, {copies.start[row], copies.start[row] + copies.dur[row]});
    return found;
}

DurNs scaled(DurNs part, double factor) { return static_cast<DurNs>(static_cast<double>(part) * factor); }

}  // namespace

Shares Shares::make(const Facts& facts) {
    Shares shares;
    shares.devices = facts.get<Activity>().devices.size();
    DurNs kernel_busy = 0;
    for (const DeviceActivity& device : facts.get<Activity>().devices) {
        add_capped(shares.window, facts.trace().window().length());
        add_capped(shares.busy, length(device.busy));
        add_capped(kernel_busy, length(device.kernel()));
        DurNs copies = length(subtract(device.memcpy, device.kernel()));
        DurNs transfers = length(subtract(transfers_of(facts.trace(), device), device.kernel()));
        add_capped(shares.exposed_memcpy, transfers);
        add_capped(shares.exposed_device_copies, copies - transfers);
        add_capped(shares.exposed_comm, length(subtract(device.comm, device.compute())));
    }
    // Why devices were idle and what kernels did do not depend on each other.
    run_together(facts.trace().kernel().rows,
                 {[&] { (void)facts.get<IdleGaps>(); }, [&] { (void)facts.get<KernelGroups>(); }});
    for (const DeviceIdle& device : facts.get<IdleGaps>().devices)
        for (std::size_t cause = 0; cause < kIdleCauses; ++cause)
            add_capped(shares.idle[cause], device.causes[cause].total);
    shares.effective = shares.window - shares.idle_of(IdleCause::profiler);
    shares.host_idle_doubtful = facts.get<ProfilerCost>().explained_ns;

    DurNs compute_sum = 0;  // sum of durations of non-collective kernels, which may overlap
    std::array<DurNs, kBounds> sums{};
    DurNs unfilled = 0;
    for (const KernelGroup& group : facts.get<KernelGroups>().groups) {
        for (std::size_t bound = 0; bound < kBounds; ++bound) sums[bound] += group.by_bound[bound];
        unfilled += group.unfilled_ns;
    }
    for (std::size_t bound = 0; bound < kBounds; ++bound)
        if (static_cast<Bound>(bound) != Bound::communication) compute_sum += sums[bound];
    if (compute_sum == 0) return shares;
    shares.overlap = static_cast<double>(kernel_busy - shares.exposed_comm) / static_cast<double>(compute_sum);
    for (std::size_t bound = 0; bound < kBounds; ++bound)
        if (static_cast<Bound>(bound) != Bound::communication)
            shares.kernel[bound] = scaled(sums[bound], shares.overlap);
    shares.unfilled = scaled(unfilled, shares.overlap);
    return shares;
}

}  // namespace gpuprof::facts
