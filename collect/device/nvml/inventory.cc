// Counts, opens and names devices.
#include "collect/device/nvml/inventory.h"

#include <algorithm>

namespace gpuprof::inline device::nvml {

namespace {

// Text that a library wrote into `buffer`, up to the first invalid byte: garbage must not reach messages and files.
std::string clean(const char* buffer, std::size_t bytes) {
    std::string text(buffer, std::find(buffer, buffer + bytes, '\0'));
    bool printable = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 127; });
    return printable ? text : std::string{};
}

void list_instances(const Api& api, ListedDevice& device) {
    unsigned mode = 0, pending = 0, count = 0;
    if (api.nvmlDeviceGetMigMode(device.handle, &mode, &pending) != kSuccess || mode != kMigEnabled) return;
    if (api.nvmlDeviceGetMaxMigDeviceCount(device.handle, &count) != kSuccess) return;
    constexpr unsigned kMaxInstances = 64;
    for (unsigned i = 0; i < std::min(count, kMaxInstances); ++i) {
        Device mig = nullptr;
        if (api.nvmlDeviceGetMigDeviceHandleByIndex(device.handle, i, &mig) != kSuccess || !mig) continue;
        device.mig.push_back(mig);
        device.facts.mig_uuids.push_back(uuid_of(api, mig));
    }
}

}  // namespace

std::string name_of(const Api& api, Device device) {
    char text[kNameBytes] = {};
    return api.nvmlDeviceGetName(device, text, sizeof text) == kSuccess ? clean(text, sizeof text) : std::string{};
}

std::string uuid_of(const Api& api, Device device) {
    char text[kUuidBytes] = {};
    return api.nvmlDeviceGetUUID(device, text, sizeof text) == kSuccess ? clean(text, sizeof text) : std::string{};
}

std::string pci_bus_id_of(const Api& api, Device device) {
    PciInfo pci{};
    return api.nvmlDeviceGetPciInfo_v3(device, &pci) == kSuccess ? clean(pci.bus_id, sizeof pci.bus_id) : std::string{};
}

Return list_devices(const Api& api, Inventory& to) {
    unsigned count = 0;
    if (Return code = api.nvmlDeviceGetCount_v2(&count); code != kSuccess) return code;
    constexpr unsigned kMaxDevices = 1024;  // more is not a plausible count
    if (count > kMaxDevices) return kUnknown;
    for (unsigned i = 0; i < count; ++i) {
        ListedDevice device;
        device.index = i;
        device.code = api.nvmlDeviceGetHandleByIndex_v2(i, &device.handle);
        if (device.code == kNoPermission) {
            to.forbidden.push_back(i);
            continue;
        }
        if (device.code == kSuccess) {
            device.facts.name = name_of(api, device.handle);
            device.facts.uuid = uuid_of(api, device.handle);
            list_instances(api, device);
        }
        to.devices.push_back(std::move(device));
    }
    return kSuccess;
}

Return find_device(const Api& api, const Identity& identity, Device& device) {
    if (identity.uuid.empty()) return api.nvmlDeviceGetHandleByIndex_v2(identity.index, &device);
    Return code = api.nvmlDeviceGetHandleByUUID(identity.uuid.c_str(), &device);
    if (code == kNotFound) return kGpuNotFound;
    if (code != kFunctionNotFound && code != kAvoided) return code;
    Inventory inventory;
    if (code = list_devices(api, inventory); code != kSuccess) return code;
    for (const ListedDevice& listed : inventory.devices) {
        if (listed.facts.uuid == identity.uuid) device = listed.handle;
        for (std::size_t i = 0; i < listed.mig.size(); ++i)
            if (listed.facts.mig_uuids[i] == identity.uuid) device = listed.mig[i];
    }
    return device ? kSuccess : kGpuNotFound;
}

}  // namespace gpuprof::device::nvml
