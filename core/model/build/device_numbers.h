// The number of each GPU of a job, from the ordinals in its recordings; same_gpu.h says which of these are one GPU.
// A GPU keeps an ordinal from one of its recordings. If several GPUs claim the same ordinal, the first keeps it: GPUs
// that worked come before GPUs only observed, these before GPUs only described, and GPUs with a UUID before those
// without. Each of the others gets the lowest free number once all have kept what they can; a GPU that is only
// described is dropped instead. So the only GPU that worked keeps a number from its recordings, and renumbering leaves
// no hole.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/model/same_gpu.h"
#include "core/model/trace.h"

namespace gpuprof::inline model {

// From the ordinals of one recording to those of the job. Devices that the recording describes but did not use are
// missing if another GPU has their number.
using DeviceNumbers = std::map<std::int32_t, std::int32_t>;

// One for each of `recordings`.
std::vector<DeviceNumbers> number_devices(const std::vector<NamedRecording>& recordings);

// Renumbers every device of `tables`.
void renumber_devices(Tables& tables, const DeviceNumbers& numbers);

}  // namespace gpuprof::model
