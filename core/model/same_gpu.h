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
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/trace.h"

namespace gpuprof::inline model {

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

}  // namespace gpuprof::model
