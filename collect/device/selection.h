// Which devices are sampled and what they are called: a pure function of what the machine has, what CUDA_VISIBLE_DEVICES
// shows to the target, and what the user asked for. Device numbers count among the visible devices, as CUDA counts them.
// CUDA_VISIBLE_DEVICES: numbers, UUIDs or beginnings of UUIDs (GPU-..., MIG-...), separated by commas. The list ends at
// the first entry that names nothing; an entry twice makes the whole list empty; an empty list shows no device.
// Source: CUDA C++ Programming Guide, "CUDA Environment Variables"; the repetition rule as torch.cuda documents it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace gpuprof {

struct MachineDevice {
    std::string name, uuid;
    std::vector<std::string> mig_uuids;  // its instances; not empty: the GPU itself runs nothing
};

struct DeviceWish {
    std::string_view devices;  // "all", or numbers and UUIDs separated by commas
    bool visible_set = false;  // whether CUDA_VISIBLE_DEVICES is in the target's environment
    std::string_view visible;
    bool pci_order = false;  // CUDA_DEVICE_ORDER=PCI_BUS_ID
};

struct SelectedDevice {
    std::int32_t device = 0;   // number among the visible devices
    std::int32_t machine = 0;  // position in the list of machine devices
    std::int32_t mig = -1;     // position among its instances
};

struct Selection {
    std::vector<SelectedDevice> devices;  // by device number, each once
    std::vector<std::string> notes;
};

// `machine` is in the order of NVML: by PCI address.
Result<Selection> select_devices(std::span<const MachineDevice> machine, const DeviceWish& wish);

}  // namespace gpuprof
