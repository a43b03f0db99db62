// Where samples come from: NVML, nvidia-smi or a recorded series, behind one interface. A source lives in the sampler
// process (collect/device/sampler_process.h), on one thread; a driver call that hangs or crashes takes that process with
// it and nothing else. sources() is the list: a new source is one file and one line there.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collect/device/reading.h"
#include "core/base/result.h"

namespace gpuprof {

struct SourceRequest {
    std::string backend = "auto";  // auto, nvml, smi or replay:FILE[@max]
    // "all", or device numbers and UUIDs separated by commas; a number counts among the visible devices.
    std::string devices = "0";
    std::string visible_devices;  // CUDA_VISIBLE_DEVICES of the target; only looked at when `visible_set`
    bool visible_set = false;
    DurNs interval = 200'000'000;  // between ticks
    // Takes over CUDA_VISIBLE_DEVICES of this process, which the target inherits.
    void see_visible_devices();
    // Driver functions that hung or crashed before and must not be called again, by name.
    std::vector<std::string> avoid;
};

class DeviceSource {
public:
    virtual ~DeviceSource() = default;
    virtual std::string_view name() const = 0;  // nvml, smi, replay
    // The selected devices; constant.
    virtual std::span<const SampledDevice> devices() const = 0;
    // One turn: readings of the metrics in `due` for every device (or what has arrived since the last turn, for a source
    // with a pace of its own), and faults that are new. Never blocks outside the driver. After a fault the source goes on
    // with what works; a device that is lost is tried again with back-off.
    virtual void collect(MetricSet due, Harvest& to) = 0;
    // A source that has nothing more to say, ever (the end of a recording).
    virtual bool ended() const { return false; }
    // Whether readings come all at once, with times of their own that may lie ahead of the clock (replay:FILE@max). The
    // region then lasts from the first to the last of them.
    virtual bool immediate() const { return false; }
    // Remarks for the reader of the summary: how devices were chosen, what is replayed, what other devices there are.
    virtual std::vector<std::string> notes() const { return {}; }
};

// Opens a source or says in one sentence why it cannot be had and what to do.
struct SourceKind {
    std::string_view name;
    Result<std::unique_ptr<DeviceSource>> (*open)(const SourceRequest& request);
};

Result<std::unique_ptr<DeviceSource>> open_nvml(const SourceRequest& request);
Result<std::unique_ptr<DeviceSource>> open_smi(const SourceRequest& request);
Result<std::unique_ptr<DeviceSource>> open_replay(const SourceRequest& request);

// Whether `backend` is one that open_source() or a monitor knows; the error lists them.
Status check_backend(const std::string& backend);
// The source that `request.backend` asks for; `auto` tries nvml, then smi. An error lists why each one failed.
Result<std::unique_ptr<DeviceSource>> open_source(const SourceRequest& request);

}  // namespace gpuprof
