// Which devices of several recordings are one GPU.
//
// A uuid tells: equal ones are one GPU, different ones are two, whatever else is known. Without one the ordinal of a device is that
// of a process: CUDA_VISIBLE_DEVICES gives each process a numbering of its own, and recordings do not hold it. GPU 0 of one rank is
// therefore not taken for GPU 0 of another. Two devices with equal ordinals are one GPU when
//   - they are of one process: its key is HOST:PID in both; or pid, rank and size of the job are equal; or pid and file name are,
//     as PyTorch's tensorboard_trace_handler writes it (HOST_PID.TIME.pt.trace.json); or only these two recordings, of different
//     tools, have this pid, they overlap in time of day, and neither host, rank nor the name of the device says otherwise;
//   - they are of processes whose keys are HOST:PID of one host, and no rank is known: ranks of a job get a GPU each.
// Samples have no process. When a job has one GPU that worked and one that was only observed (samples, a memory snapshot), at the
// same time of day, and their names do not differ, that is one GPU: nvidia-smi lists all GPUs of its host unless told otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/trace.h"

namespace gpuprof {

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
    std::string_view uuid, name;  // empty when they are not known
};

// Every device of every recording, by recording, then ordinal.
std::vector<RecordedDevice> recorded_devices(const std::vector<NamedRecording>& recordings);

// For each of `devices` the number of its GPU; numbers are dense and mean nothing else.
std::vector<std::uint32_t> same_gpus(const std::vector<NamedRecording>& recordings,
                                     const std::vector<RecordedDevice>& devices);

}  // namespace gpuprof
