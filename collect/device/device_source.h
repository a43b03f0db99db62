// The origin of samples: NVML, nvidia-smi or a recorded series, behind one interface. A source lives in the sampler
// process (collect/device/sampler_process.h), on one thread; a driver call that hangs or crashes affects only that
// process. sources() is the list: a new source is one file and one line there.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collect/device/device_reading.h"
#include "core/base/result.h"

namespace gpuprof::inline device {

struct SourceRequest {
    std::string backend = "auto";  // auto, nvml, smi or replay:FILE[@max]
    // "all", or device numbers and UUIDs separated by commas; a number counts the visible devices.
    std::string devices = "0";
    std::string visible_devices;  // CUDA_VISIBLE_DEVICES of the target; only used with `visible_set`
    bool visible_set = false;
    DurNs interval = 200'000'000;  // between ticks
    // Copies CUDA_VISIBLE_DEVICES from this process, as the target inherits it.
    void see_visible_devices();
    // Names of driver functions that hung or crashed before and must not be called again.
    std::vector<std::string> avoid;
};

class DeviceSource {
public:
    virtual ~DeviceSource() = default;
    virtual std::string_view name() const = 0;  // nvml, smi, replay
    // The selected devices; constant.
    virtual std::span<const SampledDevice> devices() const = 0;
    // One turn: readings of the metrics in `due` for every device (from a source with its own pace: everything since
    // the last turn), and new faults.
    // Never blocks outside the driver. After a fault the source continues with what works; a lost device is retried
    // with back-off.
    virtual void collect(MetricSet due, PollResult& to) = 0;
    // Whether the source has ended for good (the end of a recording).
    virtual bool ended() const { return false; }
    // Whether readings arrive all at once, with their own times, possibly ahead of the clock (replay:FILE@max). The
    // region then lasts from the first to the last of them.
    virtual bool immediate() const { return false; }
    // Remarks for the summary: how devices were selected, what is replayed, which other devices exist.
    virtual std::vector<std::string> notes() const { return {}; }
};

// Opens a source, or returns one sentence that says why it is unavailable and what to do.
struct SourceKind {
    std::string_view name;
    Result<std::unique_ptr<DeviceSource>> (*open)(const SourceRequest& request);
};

Result<std::unique_ptr<DeviceSource>> open_nvml(const SourceRequest& request);
Result<std::unique_ptr<DeviceSource>> open_smi(const SourceRequest& request);
Result<std::unique_ptr<DeviceSource>> open_replay(const SourceRequest& request);

// Whether open_source() or a monitor knows `backend`; the error lists the known ones.
Status check_backend(const std::string& backend);
// The source for `request.backend`; `auto` tries nvml, then smi. An error says why each one failed.
Result<std::unique_ptr<DeviceSource>> open_source(const SourceRequest& request);

}  // namespace gpuprof::device
