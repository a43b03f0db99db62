// Maps a device ordinal in one recording of a job to the job's GPU. A uuid identifies the GPU. Without one, an ordinal
// is valid only within its recording or, for ordinals of a host, within that host; so GPU 0 of one rank is not confused
// with GPU 0 of another. An ordinal stays unchanged unless another GPU already has it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/model/trace.h"

namespace gpuprof {

// From the ordinals of one recording to those of the job. Devices that the recording describes but did not use are
// missing if another GPU has their number.
using DeviceNumbers = std::map<std::int32_t, std::int32_t>;

// One for each of `recordings`. `scopes[i]`: where the ordinals of recordings[i] are valid (a host, or the file).
std::vector<DeviceNumbers> number_devices(const std::vector<const Trace*>& recordings,
                                          const std::vector<std::string>& scopes);

// Renumbers every device of `tables`.
void renumber_devices(Tables& tables, const DeviceNumbers& numbers);

}  // namespace gpuprof
