// NVML as a source: opens the library, selects devices, combines their turns into one, and restarts the library after
// it lost its driver. The library stays initialised when a source ends, so that the next region of this process starts
// without delay.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "collect/device/nvml/nvml_api.h"
#include "collect/device/nvml/nvml_device.h"
#include "collect/device/nvml/nvml_source.h"
#include "core/base/clock.h"

namespace gpuprof::inline device {
namespace nvml {

namespace {

// Meanings are abridged from NVIDIA's "Xid Errors" (https://docs.nvidia.com/deploy/xid-errors).

// Counts the critical errors (Xid) that the driver reports for GPUs during sampling, with an event set that is polled
// without waiting.
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

// "Xid 79 (the GPU fell off the bus)".
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

// nvmlInit counts its calls; the same number of nvmlShutdown calls ends it.
int initialised = 0;

Return start(const Api& api) {
    Return code = api.nvmlInit_v2();
    if (code == kAlreadyInitialized) code = kSuccess;
    if (code == kSuccess) ++initialised;
    return code;
}

void shut_down(const Api& api) {
    for (; initialised > 0; --initialised) api.nvmlShutdown();
}

constexpr int kMaxWatchTries = 3;

class NvmlSource final : public DeviceSource {
public:
    NvmlSource(Api api, const RetryDelays& delays)
        : api_(std::move(api)), delays_(delays), library_(delays.library_first, delays.library_max) {}

    Status choose(const SourceRequest& request);

    std::string_view name() const override { return "nvml"; }
    std::span<const SampledDevice> devices() const override { return devices_; }
    std::vector<std::string> notes() const override { return notes_; }
    void collect(MetricSet due, PollResult& to) override;

private:
    void add(const ListedDevice& listed, const SelectedDevice& selected);
    void count_errors(PollResult& to);
    void go_down(Return code, PollResult& to);
    bool come_up(PollResult& to);

    Api api_;
    RetryDelays delays_;
    std::vector<std::unique_ptr<SampledGpu>> gpus_;
    std::vector<Device> watched_;  // per GPU: the handle that `errors_` watches
    std::vector<SampledDevice> devices_;
    std::vector<std::string> notes_;
    XidWatch errors_;
    int watch_failures_ = 0;
    Backoff library_;
    bool down_ = false;
    TimeNs down_since_ = 0;
};

Status NvmlSource::choose(const SourceRequest& request) {
    Inventory inventory;
    if (Return code = list_devices(api_, inventory); code != kSuccess)
        return Error{ExitCode::empty, fmt::format("NVML cannot list GPUs: {}", explain(code, api_.path))};
    std::vector<MachineDevice> machine;
    for (const ListedDevice& listed : inventory.devices) machine.push_back(listed.facts);
    const char* order = std::getenv("CUDA_DEVICE_ORDER");
    DeviceRequest asked{request.devices, request.visible_set, request.visible_devices,
                        order && std::string_view(order) == "PCI_BUS_ID"};
    Result<Selection> selection = select_devices(machine, asked);
    if (!selection) return selection.error();
    for (const SelectedDevice& selected : selection->devices)
        add(inventory.devices[static_cast<std::size_t>(selected.machine)], selected);
    notes_ = selection->notes;
    if (!inventory.forbidden.empty())
        notes_.push_back(fmt::format("this process may not open {} of the driver's GPUs; {} skipped",
                                     inventory.forbidden.size(),
                                     inventory.forbidden.size() == 1 ? "it is" : "they are"));
    watched_.resize(gpus_.size(), nullptr);
    return {};
}

void NvmlSource::add(const ListedDevice& listed, const SelectedDevice& selected) {
    SampledDevice facts;
    facts.device = selected.device;
    facts.nvml_index = static_cast<std::int32_t>(listed.index);
    facts.name = listed.facts.name;
    facts.uuid = listed.facts.uuid;
    facts.mig = selected.mig >= 0;
    if (facts.mig) {
        auto position = static_cast<std::size_t>(selected.mig);
        facts.uuid = listed.facts.mig_uuids[position];
        if (std::string name = name_of(api_, listed.mig[position]); !name.empty()) facts.name = name;
    }
    Identity gpu{listed.facts.uuid, listed.index}, self{facts.uuid, listed.index};
    auto device = std::make_unique<SampledGpu>(api_, delays_, std::move(facts), std::move(self), std::move(gpu));
    Return code = listed.code == kSuccess ? device->find() : listed.code;
    if (code != kSuccess) device->begin_lost(code);
    devices_.push_back(device->facts());
    gpus_.push_back(std::move(device));
}

void NvmlSource::collect(MetricSet due, PollResult& to) {
    if (down_ && !come_up(to)) return;
    if (due.has(Metric::xid_errors)) count_errors(to);
    Return renew = kSuccess;
    for (auto& gpu : gpus_) {
        renew = gpu->collect(due, to);
        if (renew != kSuccess) break;
    }
    if (renew != kSuccess)
        go_down(renew, to);
    else
        library_.reset();
}

void NvmlSource::count_errors(PollResult& to) {
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
        SampledGpu& gpu = *gpus_[i];
        if (!gpu.gpu() || watched_[i] == gpu.gpu()) continue;
        Return code = errors_.watch(api_, gpu.gpu());
        if (code == kSuccess) {
            gpu.xid_errors = gpu.xid_errors.value_or(0);
        } else if (reaction_to(code) != Reaction::absent && ++watch_failures_ < kMaxWatchTries) {
            continue;
        } else {
            gpu.leave_out({Metric::xid_errors}, code);
        }
        watched_[i] = gpu.gpu();
    }
    for (const XidEvent& event : errors_.poll())
        for (auto& gpu : gpus_) {
            if (gpu->gpu() != event.device) continue;
            gpu->xid_errors = gpu->xid_errors.value_or(0) + 1;
            to.faults.push_back({realtime_ns(),
                                 gpu->facts().device,
                                 {},
                                 false,
                                 fmt::format("GPU {} reported {}; see the kernel log (dmesg) for details.",
                                             gpu->facts().device, describe_xid(event.xid))});
        }
}

void NvmlSource::go_down(Return code, PollResult& to) {
    TimeNs now = monotonic_ns();
    down_ = true;
    down_since_ = now;
    to.faults.push_back(
        {realtime_ns(),
         -1,
         {},
         true,
         fmt::format("The driver stopped responding: {}. NVML is being restarted.", explain(code, api_.path))});
    for (auto& gpu : gpus_) gpu->release();
    errors_.close();
    std::fill(watched_.begin(), watched_.end(), nullptr);
    shut_down(api_);
    library_.fail(now);
}

bool NvmlSource::come_up(PollResult& to) {
    TimeNs now = monotonic_ns();
    if (!library_.due(now)) return false;
    if (start(api_) != kSuccess) {
        library_.fail(now);
        return false;
    }
    down_ = false;
    for (auto& gpu : gpus_)
        if (Return code = gpu->find(); code != kSuccess) gpu->begin_lost(code);
    to.faults.push_back(
        {realtime_ns(),
         -1,
         {},
         false,
         fmt::format("NVML was restarted after {:.1f} s.", static_cast<double>(now - down_since_) / 1e9)});
    return true;
}

ExitCode exit_code_of(Return code) { return code == kNoPermission ? ExitCode::not_permitted : ExitCode::empty; }

}  // namespace

Result<std::unique_ptr<DeviceSource>> open(const SourceRequest& request, const RetryDelays& delays) {
    Result<Api> api = load_api(request.avoid);
    if (!api) return api.error();
    if (Return code = start(*api); code != kSuccess)
        return Error{exit_code_of(code), fmt::format("NVML failed to start: {}", explain(code, api->path))};
    auto source = std::make_unique<NvmlSource>(std::move(*api), delays);
    if (Status chosen = source->choose(request); !chosen) return chosen.error();
    return std::unique_ptr<DeviceSource>(std::move(source));
}

}  // namespace nvml

Result<std::unique_ptr<DeviceSource>> open_nvml(const SourceRequest& request) { return nvml::open(request, {}); }

}  // namespace gpuprof::device
