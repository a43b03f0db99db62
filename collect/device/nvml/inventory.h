// The devices that NVML lists, with their MIG instances, and how to find a device again after its handle became
// invalid.
#pragma once

#include <vector>

#include "collect/device/nvml/nvml_api.h"
#include "collect/device/selection.h"

namespace gpuprof::inline device::nvml {

struct ListedDevice {
    unsigned index = 0;  // in NVML's order
    Return code = kSuccess;
    Device handle = nullptr;  // null if failed; `code` says why
    std::vector<Device> mig;  // in the order of facts.mig_uuids
    MachineDevice facts;
};

struct Inventory {
    std::vector<ListedDevice> devices;
    std::vector<unsigned> forbidden;  // indices that this process may not open; CUDA does not count them either
};

// Lists the machine's devices by PCI address. The code is the result of counting them.
Return list_devices(const Api& api, Inventory& to);

// Finds a device by its permanent identity: its UUID, or its index if NVML reports no UUID.
struct Identity {
    std::string uuid;
    unsigned index = 0;
};
Return find_device(const Api& api, const Identity& identity, Device& device);

// Texts of a device; empty if NVML has none.
std::string name_of(const Api& api, Device device);
std::string uuid_of(const Api& api, Device device);
std::string pci_bus_id_of(const Api& api, Device device);

}  // namespace gpuprof::device::nvml
