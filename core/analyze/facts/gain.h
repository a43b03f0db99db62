// What acting on a cause would give back. Rules ask here and compute nothing themselves, so that a better answer (a replay of
// the recording without the cause) serves all of them. Sums over devices, in ns.
#pragma once

#include <initializer_list>

#include "core/analyze/knowledge/causes.h"
#include "core/base/ids.h"

namespace gpuprof {

class Facts;

// Without idle time of these causes. Of launching and host code, only what the recorder cannot have made counts.
DurNs gain_without_idle(const Facts& facts, std::initializer_list<IdleCause> causes);
// Without waiting for the device: the host would run ahead until it or the device is the one that is never idle.
DurNs gain_without_waits(const Facts& facts);
// Without copies that no kernel hides, and waiting for them.
DurNs gain_without_exposed_copies(const Facts& facts);
// Without collectives that no other kernel hides, and waiting for them.
DurNs gain_without_exposed_communication(const Facts& facts);

}  // namespace gpuprof
