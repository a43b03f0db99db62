// The number of each GPU of a job, from the ordinals in its recordings, and which of these are one GPU.
// A GPU keeps an ordinal from one of its recordings. If several GPUs claim the same ordinal, the first keeps it: GPUs
// that worked come before GPUs only observed, these before GPUs only described, and GPUs with a UUID before those
// without. Each of the others gets the lowest free number once all have kept what they can; a GPU that is only
// described is dropped instead. So the only GPU that worked keeps a number from its recordings, and renumbering leaves
// no hole.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/model/trace.h"

namespace gpuprof::inline model {

// Times from here on were read from a clock that tells the time of day, counted from 1970: 9 September 2001; no other clock
// gets that far.
inline constexpr TimeNs kTimeOfDay = TimeNs{1'000'000'000} * 1'000'000'000;

// Which devices of several recordings are one GPU.
//
// UUIDs decide: equal UUIDs are one GPU, different UUIDs are two. Without them, an ordinal is valid only within its
// process: CUDA_VISIBLE_DEVICES numbers the GPUs of each process separately, and recordings do not contain it. GPU 0 of
// one rank is therefore not assumed to be GPU 0 of another. Two devices with equal ordinals are one GPU if
//   - they belong to one process: its key is HOST:PID in both; or pid, rank and size of the job are equal; or pid and
//     file name are equal (HOST_PID.TIME.pt.trace.json of PyTorch's tensorboard_trace_handler); or only these two
//     recordings, of different tools, have this pid, they overlap in time of day, and no host, rank or device name
//     contradicts it;
//   - they belong to processes whose keys are HOST:PID of one host, and no rank is known: each rank has its own GPU.
// Samples have no process. If a job has one GPU that worked and one that was only observed (samples, a memory snapshot)
// at the same time of day, and their names do not differ, they are one GPU: by default nvidia-smi lists all GPUs of its
// host.
struct NamedRecording {
    std::string_view name;  // of its file
    const Trace* trace;
};

// What a recording has of a device: kernels, copies or fills; anything else that happened; its description alone.
enum class DeviceUse { worked, observed, described };

struct RecordedDevice {
    std::size_t recording;
    std::int32_t ordinal;
    DeviceUse use;
    std::string_view uuid, name;  // empty if unknown
};

// Every device of every recording, by recording, then ordinal.
std::vector<RecordedDevice> recorded_devices(const std::vector<NamedRecording>& recordings);

// For each of `devices` the number of its GPU; numbers are dense and mean nothing else.
std::vector<std::uint32_t> same_gpus(const std::vector<NamedRecording>& recordings,
                                     const std::vector<RecordedDevice>& devices);

// From the ordinals of one recording to those of the job. Devices that the recording describes but did not use are
// missing if another GPU has their number.
using DeviceNumbers = std::map<std::int32_t, std::int32_t>;

// One for each of `recordings`.
std::vector<DeviceNumbers> number_devices(const std::vector<NamedRecording>& recordings);

// Renumbers every device of `tables`.
void renumber_devices(Tables& tables, const DeviceNumbers& numbers);

}  // namespace gpuprof::model
