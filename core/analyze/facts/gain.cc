#include "core/analyze/facts/gain.h"

#include <algorithm>

#include "core/analyze/facts/drained_queue.h"
#include "core/analyze/facts/facts.h"
#include "core/analyze/facts/shares.h"

namespace gpuprof {

DurNs gain_without_idle(const Facts& facts, std::initializer_list<IdleCause> causes) {
    DurNs sum = 0;
    for (IdleCause cause : causes) {
        DurNs idle = facts.get<Shares>().idle_of(cause);
        bool doubtful = cause == IdleCause::launch || cause == IdleCause::host_compute;
        sum += doubtful ? facts.get<ProfilerCost>().undoubted(idle) : idle;
    }
    return sum;
}

DurNs gain_without_waits(const Facts& facts) {
    const DrainedQueue& queue = facts.get<DrainedQueue>();
    return std::max(queue.drained_ns, gain_without_idle(facts, {IdleCause::synchronisation}));
}

DurNs gain_without_exposed_copies(const Facts& facts) {
    return facts.get<Shares>().exposed_memcpy + gain_without_idle(facts, {IdleCause::host_memcpy});
}

DurNs gain_without_exposed_communication(const Facts& facts) {
    return facts.get<Shares>().exposed_comm + gain_without_idle(facts, {IdleCause::communication_wait});
}

}  // namespace gpuprof
