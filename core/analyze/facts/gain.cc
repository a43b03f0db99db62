#include "core/analyze/facts/gain.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/analyze/facts/facts.h"
#include "core/analyze/facts/gaps.h"
#include "core/analyze/facts/host_copies.h"
#include "core/analyze/facts/shares.h"
#include "core/analyze/facts/waits.h"

namespace gpuprof {
namespace {

// Time of a pageable copy relative to a pinned one: pageable copies pass through a driver buffer, page by page, at 8 to
// 12 GB/s, while the bus delivers 25 (PCIe 4) or 55 (PCIe 5).
constexpr double kPageableSlowdown = 5;

// Recoverable idle time per cause, without the part that the recorder may have caused. A wait for the device costs the
// idle time that follows it, whatever the host does then, so the part of it listed as launching or host code counts as
// waiting. If operators do not distinguish launch cost from host code, short host code counts as launching.
struct Recoverable {
    std::array<DurNs, kIdleCauses> by_cause{};
    DurNs waits = 0;
    static Recoverable make(const Facts& facts);
    DurNs& operator[](IdleCause cause) { return by_cause[static_cast<std::size_t>(cause)]; }
    DurNs operator[](IdleCause cause) const { return by_cause[static_cast<std::size_t>(cause)]; }
};

Recoverable Recoverable::make(const Facts& facts) {
    const ProfilerCost& cost = facts.get<ProfilerCost>();
    DurNs launch = 0, host = 0, between = 0;
    for (const DeviceIdle& device : facts.get<IdleGaps>().devices) {
        launch += device.drained[static_cast<std::size_t>(IdleCause::launch)];
        host += device.drained[static_cast<std::size_t>(IdleCause::host_compute)];
        between += device.between_launches;
    }
    launch = cost.undoubted(launch), host = cost.undoubted(host), between = cost.undoubted(between);
    Recoverable found{.by_cause = facts.get<Shares>().idle};
    for (IdleCause cause : {IdleCause::launch, IdleCause::host_compute}) found[cause] = cost.undoubted(found[cause]);
    found[IdleCause::launch] += between;
    found[IdleCause::host_compute] -= between;
    found.waits = found[IdleCause::synchronisation];
    // Without the wait, the host recovers its blocked time and the device the idle time after it; the smaller one
    // counts.
    DurNs more = std::min(launch + host, facts.get<Waits>().blocked_ns - found.waits);
    if (more <= 0) return found;
    double part = static_cast<double>(more) / static_cast<double>(launch + host);
    for (auto [cause, drained] : {std::pair(IdleCause::launch, launch), std::pair(IdleCause::host_compute, host)}) {
        auto moved = static_cast<DurNs>(part * static_cast<double>(drained));
        found[cause] -= moved;
        found.waits += moved;
    }
    return found;
}

}  // namespace

DurNs gain_without_idle(const Facts& facts, std::initializer_list<IdleCause> causes) {
    DurNs sum = 0;
    for (IdleCause cause : causes) sum += facts.get<Recoverable>()[cause];
    return sum;
}

DurNs gain_without_waits(const Facts& facts) { return facts.get<Recoverable>().waits; }

DurNs gain_without_exposed_copies(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    DurNs exposed = shares.exposed_memcpy + shares.idle_of(IdleCause::host_memcpy);
    if (shares.exposed_memcpy == 0) return exposed;
    double pageable = static_cast<double>(exposed) * facts.get<HostCopies>().pageable_part();
    // Pinned copies can only be hidden behind other device work.
    double pinned = std::min(static_cast<double>(exposed) - pageable, static_cast<double>(shares.window - exposed));
    return static_cast<DurNs>(pageable * (1 - 1 / kPageableSlowdown) + pinned);
}

DurNs gain_without_exposed_communication(const Facts& facts) {
    return facts.get<Shares>().exposed_comm + gain_without_idle(facts, {IdleCause::communication_wait});
}

}  // namespace gpuprof
