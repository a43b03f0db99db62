// Counts the critical errors (Xid) that the driver reports for GPUs during sampling, with an event set that is polled
// without waiting.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "collect/device/nvml/nvml_api.h"

namespace gpuprof::inline device::nvml {

struct XidEvent {
    Device device;
    unsigned long long xid;
};

class XidWatch {
public:
    XidWatch() = default;
    ~XidWatch() { close(); }
    XidWatch(const XidWatch&) = delete;
    XidWatch& operator=(const XidWatch&) = delete;

    // Watches a GPU from now on.
    Return watch(const Api& api, Device gpu);
    // The events since the last poll.
    std::vector<XidEvent> poll();
    void close();  // call before nvmlShutdown

private:
    const Api* api_ = nullptr;
    EventSet set_ = nullptr;
};

// "Xid 79 (the GPU fell off the bus)".
std::string describe_xid(unsigned long long xid);

}  // namespace gpuprof::device::nvml
