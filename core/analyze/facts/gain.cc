#include "core/analyze/facts/gain.h"

#include <algorithm>

#include "core/analyze/facts/facts.h"
#include "core/analyze/facts/gaps.h"
#include "core/analyze/facts/shares.h"
#include "core/analyze/facts/waits.h"

namespace gpuprof {
namespace {

// What copies of pageable memory take beside those of pinned memory: they pass through a buffer of the driver, page by page,
// at 8 to 12 GB/s where the bus gives 25 (PCIe 4) or 55 (PCIe 5).
constexpr double kPageableSlower = 5;

// Waiting for the device costs the time that it then stands still, whatever the host does in it: what of that is listed as
// launching or as host code belongs to the wait.
struct Waiting {
    DurNs all = 0, from_launch = 0, from_host = 0;
};

// Less what the recorder may have made.
DurNs undoubted(const Facts& facts, IdleCause cause) {
    return facts.get<ProfilerCost>().undoubted(facts.get<Shares>().idle_of(cause));
}

Waiting waiting(const Facts& facts) {
    DurNs inside = facts.get<Shares>().idle_of(IdleCause::synchronisation), launch = 0, host = 0;
    for (const DeviceIdle& device : facts.get<IdleGaps>().devices) {
        launch += device.drained[static_cast<std::size_t>(IdleCause::launch)];
        host += device.drained[static_cast<std::size_t>(IdleCause::host_compute)];
    }
    launch = facts.get<ProfilerCost>().undoubted(launch);
    host = facts.get<ProfilerCost>().undoubted(host);
    // Without a wait the host gets back what it spent inside, and the device what it then stood still; the smaller decides.
    DurNs more = std::min(launch + host, facts.get<Waits>().blocked_ns - inside);
    if (more <= 0) return {inside, 0, 0};
    double part = static_cast<double>(more) / static_cast<double>(launch + host);
    Waiting result{inside, static_cast<DurNs>(part * static_cast<double>(launch)),
                   static_cast<DurNs>(part * static_cast<double>(host))};
    result.all += result.from_launch + result.from_host;
    return result;
}

// Host code that is the price of launching, where operators do not tell the two apart.
DurNs between_launches(const Facts& facts) {
    DurNs sum = 0;
    for (const DeviceIdle& device : facts.get<IdleGaps>().devices) sum += device.between_launches;
    return facts.get<ProfilerCost>().undoubted(sum);
}

}  // namespace

DurNs gain_without_idle(const Facts& facts, std::initializer_list<IdleCause> causes) {
    DurNs sum = 0;
    for (IdleCause cause : causes) {
        if (cause == IdleCause::launch)
            sum += undoubted(facts, cause) + between_launches(facts) - waiting(facts).from_launch;
        else if (cause == IdleCause::host_compute)
            sum += undoubted(facts, cause) - between_launches(facts) - waiting(facts).from_host;
        else
            sum += facts.get<Shares>().idle_of(cause);
    }
    return sum;
}

DurNs gain_without_waits(const Facts& facts) { return waiting(facts).all; }

DurNs gain_without_exposed_copies(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    DurNs exposed = shares.exposed_memcpy + shares.idle_of(IdleCause::host_memcpy);
    if (shares.exposed_memcpy == 0) return exposed;
    double pageable = static_cast<double>(exposed) * shares.pageable_part;
    // Pinned copies can be hidden behind what else the device does, and no further.
    double pinned = std::min(static_cast<double>(exposed) - pageable, static_cast<double>(shares.window - exposed));
    return static_cast<DurNs>(pageable * (1 - 1 / kPageableSlower) + pinned);
}

DurNs gain_without_exposed_communication(const Facts& facts) {
    return facts.get<Shares>().exposed_comm + gain_without_idle(facts, {IdleCause::communication_wait});
}

}  // namespace gpuprof
