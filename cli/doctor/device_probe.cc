#include "cli/doctor/device_probe.h"

#include <algorithm>
#include <ctime>
#include <mutex>

#include "collect/device/monitor.h"
#include "core/base/ids.h"

namespace gpuprof::inline cli {
namespace {

// Collects on the monitor's thread what another thread reads later.
class Listener {
public:
    Observer observer() {
        return {.opened =
                    [this](const Opened& opened) {
                        std::lock_guard lock(mutex_);
                        heard_.devices = opened.devices;
                        heard_.sentences = opened.notes;
                    },
                .on_poll =
                    [this](const PollResult& polled) {
                        std::lock_guard lock(mutex_);
                        for (const Reading& reading : polled.readings)
                            heard_.present = heard_.present | reading.present;
                        for (const Fault& fault : polled.faults) say(fault.sentence);
                    }};
    }
    SampledMachine heard() const {
        std::lock_guard lock(mutex_);
        return heard_;
    }

private:
    void say(const std::string& sentence) {
        if (std::find(heard_.sentences.begin(), heard_.sentences.end(), sentence) == heard_.sentences.end())
            heard_.sentences.push_back(sentence);
    }
    mutable std::mutex mutex_;
    SampledMachine heard_;
};

// If the driver hung or crashed, the monitor's own message is more specific than "no sample arrived".
std::string refusal_of(const Monitor& monitor, const std::string& message) {
    for (const GpuSummary& summary : monitor.summaries())
        for (const std::string& sentence : summary.notes)
            if (sentence.rfind("the driver did not answer", 0) == 0 || sentence.rfind("the sampler ", 0) == 0)
                return sentence;
    return message;
}

}  // namespace

SampledMachine sample_machine(const std::string& backend) {
    Listener listener;  // outlives the monitor, whose thread uses it
    MonitorOptions options;
    options.request.devices = "all";
    options.request.backend = backend;
    options.request.interval = 100 * kMillisecond;
    options.max_samples = 1;
    options.strict = true;
    options.start_timeout = 5'000 * kMillisecond;
    options.observer = listener.observer();
    Monitor monitor(std::move(options));
    if (Status started = monitor.start(); !started) {
        SampledMachine none;
        none.refusal = refusal_of(monitor, started.error().message);
        return none;
    }
    // GPM values are differences of two readings.
    timespec moment{0, 450 * kMillisecond};
    nanosleep(&moment, nullptr);
    monitor.stop();
    return listener.heard();
}

}  // namespace gpuprof::cli
