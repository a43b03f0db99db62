// Meanings are abridged from NVIDIA's "Xid Errors" (https://docs.nvidia.com/deploy/xid-errors).
#include "collect/device/nvml/xid.h"

#include <fmt/format.h>

namespace gpuprof::inline device::nvml {

Return XidWatch::watch(const Api& api, Device gpu) {
    if (!set_) {
        if (Return code = api.nvmlEventSetCreate(&set_); code != kSuccess) {
            set_ = nullptr;
            return code;
        }
        api_ = &api;
    }
    return api.nvmlDeviceRegisterEvents(gpu, kEventXid, set_);
}

std::vector<XidEvent> XidWatch::poll() {
    constexpr int kMaxPerPoll = 64;  // a storm of errors must not delay sampling; the rest follows next time
    std::vector<XidEvent> events;
    for (int i = 0; set_ && i < kMaxPerPoll; ++i) {
        EventData data{};
        if (api_->nvmlEventSetWait_v2(set_, &data, 0) != kSuccess) break;
        if (data.event_type == kEventXid) events.push_back({data.device, data.event_data});
    }
    return events;
}

void XidWatch::close() {
    if (set_) api_->nvmlEventSetFree(set_);
    set_ = nullptr;
}

std::string describe_xid(unsigned long long xid) {
    switch (xid) {
        case 13: return "Xid 13 (illegal operation in a kernel)";
        case 31: return "Xid 31 (MMU fault: a kernel accessed unmapped memory)";
        case 43: return "Xid 43 (a program's work on the GPU was stopped)";
        case 45: return "Xid 45 (clean-up after an earlier error or a killed program)";
        case 48: return "Xid 48 (double-bit memory error)";
        case 63: return "Xid 63 (memory row remapped)";
        case 64: return "Xid 64 (memory row remapping failed)";
        case 74: return "Xid 74 (NVLink error)";
        case 79: return "Xid 79 (the GPU fell off the bus)";
        case 94: return "Xid 94 (contained memory error)";
        case 95: return "Xid 95 (uncontained memory error; the GPU needs a reset)";
        case 119: return "Xid 119 (the GSP of the GPU does not respond)";
        default: return fmt::format("Xid {}", xid);
    }
}

}  // namespace gpuprof::device::nvml
