// Samples of the devices while a command is recorded, taken by a process of their own.
#include <unistd.h>

#include <string>

#include "cli/record/companions.h"
#include "collect/device/monitor.h"
#include "collect/device/sample_capture.h"

namespace gpuprof {
namespace {

class DeviceSamples final : public Companion {
public:
    explicit DeviceSamples(double interval) : interval_(interval) {}
    const char* name() const override { return "devices"; }
    Status prepare(const std::string& part) override {
        Result<std::unique_ptr<SampleCapture>> opened = SampleCapture::open(part, CapturePart::Named::at_once);
        if (!opened.ok()) return opened.error();
        part_ = part;
        capture_ = std::move(*opened);
        MonitorOptions options;
        options.request.devices = "all";
        options.request.interval = static_cast<DurNs>(interval_ * 1e9);
        options.start_timeout = -1;
        options.observer = capture_->observer();
        options.request.see_visible_devices();
        monitor_ = std::make_unique<Monitor>(std::move(options));
        return monitor_->start();
    }
    Status stop() override {
        if (!monitor_) return {};
        monitor_->stop();
        bool any = !monitor_->devices().empty();
        Status written = capture_->close();
        if (!any) unlink(part_.c_str());
        return written;
    }

private:
    double interval_;
    std::string part_;
    std::unique_ptr<SampleCapture> capture_;  // outlives the monitor, whose thread writes to it
    std::unique_ptr<Monitor> monitor_;
};

}  // namespace

std::unique_ptr<Companion> record_devices(double interval) { return std::make_unique<DeviceSamples>(interval); }

}  // namespace gpuprof
