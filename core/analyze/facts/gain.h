// Estimates of the time recoverable by removing a cause. Rules call these and compute nothing themselves, so that all
// of them benefit from a better estimate (a replay of the recording without the cause). Sums over devices, in ns.
#pragma once

#include <initializer_list>

#include "core/analyze/knowledge/causes.h"
#include "core/base/ids.h"

namespace gpuprof {

class Facts;

// Without idle time of these causes. For launching and host code, only the part that the recorder cannot have caused
// counts.
DurNs gain_without_idle(const Facts& facts, std::initializer_list<IdleCause> causes);
// Without waits for the device: the host would run ahead until either it or the device is never idle.
DurNs gain_without_waits(const Facts& facts);
// Without exposed copies and the waits for them.
DurNs gain_without_exposed_copies(const Facts& facts);
// Without exposed collectives and the waits for them.
DurNs gain_without_exposed_communication(const Facts& facts);

}  // namespace gpuprof
