// The number of each GPU of a job, from the ordinals of its recordings; same_gpu.h says which of these are one GPU.
// A GPU keeps an ordinal that one of its recordings gives it. Where several GPUs have that one, the first keeps it: those that worked
// come before those only observed, these before those only described, and those with a uuid before those without. Every other one
// gets the lowest number that is free, after all have kept what they can; one that is only described is left out instead. So
// the only GPU of a job that worked has a number of its own recordings, and one that is moved leaves no hole.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/model/same_gpu.h"
#include "core/model/trace.h"

namespace gpuprof {

// From the ordinals of one recording to those of the job. Devices that the recording describes but did not use are
// missing if another GPU has their number.
using DeviceNumbers = std::map<std::int32_t, std::int32_t>;

// One for each of `recordings`.
std::vector<DeviceNumbers> number_devices(const std::vector<NamedRecording>& recordings);

// Renumbers every device of `tables`.
void renumber_devices(Tables& tables, const DeviceNumbers& numbers);

}  // namespace gpuprof
