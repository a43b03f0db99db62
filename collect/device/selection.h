// Selects and numbers the devices to sample: a pure function of the machine's devices, of the devices that
// CUDA_VISIBLE_DEVICES shows to the target, and of the user's request. Device numbers count the visible devices, in
// CUDA's order. CUDA_VISIBLE_DEVICES contains numbers, UUIDs or beginnings of UUIDs (GPU-..., MIG-...), separated by
// commas. The list ends at the first entry without a match; a repeated entry empties the whole list; an empty list
// shows no device.
// Source: CUDA C++ Programming Guide, "CUDA Environment Variables"; the repetition rule as documented by torch.cuda.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace gpuprof::inline device {

struct MachineDevice {
    std::string name, uuid;
    std::vector<std::string> mig_uuids;  // its instances; if not empty, the GPU itself runs no work
};

struct DeviceRequest {
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
    std::vector<SelectedDevice> devices;  // by device number, without duplicates
    std::vector<std::string> notes;
};

// `machine` is in NVML's order: by PCI address.
Result<Selection> select_devices(std::span<const MachineDevice> machine, const DeviceRequest& request);

}  // namespace gpuprof::device
