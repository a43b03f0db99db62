// Which GPU of a job a device ordinal of one of its recordings is. A uuid tells. Without one an ordinal means something within its
// recording or, where ordinals are those of a host, within that: then GPU 0 of one rank is not taken for GPU 0 of another.
// An ordinal stays as it is where no other GPU has it already.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/model/trace.h"

namespace gpuprof {

// From the ordinals of one recording to those of the job. Devices that it describes without having used them, and whose number
// another GPU has, are not in it.
using DeviceNumbers = std::map<std::int32_t, std::int32_t>;

// One for each of `recordings`. `scopes[i]`: where the ordinals of recordings[i] mean something (a host, or its file).
std::vector<DeviceNumbers> number_devices(const std::vector<const Trace*>& recordings,
                                          const std::vector<std::string>& scopes);

// Another number for every device of `tables`.
void renumber_devices(Tables& tables, const DeviceNumbers& numbers);

}  // namespace gpuprof
