// Meanings are from NVIDIA's "Xid Errors" (https://docs.nvidia.com/deploy/xid-errors), in few words.
#include "collect/device/nvml/xid.h"

#include <fmt/format.h>

namespace gpuprof::nvml {

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
    constexpr int kMostAtOnce = 64;  // a storm of errors must not hold up sampling; the rest comes next time
    std::vector<XidEvent> events;
    for (int i = 0; set_ && i < kMostAtOnce; ++i) {
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
        case 13: return "Xid 13 (a kernel did something illegal)";
        case 31: return "Xid 31 (a kernel touched memory that is not mapped)";
        case 43: return "Xid 43 (a program's work on the GPU was stopped)";
        case 45: return "Xid 45 (work was cleaned up after an earlier error or a killed program)";
        case 48: return "Xid 48 (a double-bit memory error)";
        case 63: return "Xid 63 (a memory row was remapped)";
        case 64: return "Xid 64 (a memory row could not be remapped)";
        case 74: return "Xid 74 (an NVLink error)";
        case 79: return "Xid 79 (the GPU fell off the bus)";
        case 94: return "Xid 94 (a memory error that was contained)";
        case 95: return "Xid 95 (a memory error that was not contained; the GPU needs a reset)";
        case 119: return "Xid 119 (the GPU's own processor, GSP, does not answer)";
        default: return fmt::format("Xid {}", xid);
    }
}

}  // namespace gpuprof::nvml
