#include "collect/device/sample_capture.h"

#include "core/base/caught.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline device {
namespace {

constexpr std::size_t kRowsPerFlush = 16'384;

}  // namespace

Result<std::unique_ptr<SampleCapture>> SampleCapture::open(const std::string& file, CapturePart::Publish named) {
    Result<std::unique_ptr<CapturePart>> part = CapturePart::open(file, meta_key::kSamplerTool, named);
    if (!part.ok()) return part.error();
    return std::unique_ptr<SampleCapture>(new SampleCapture(std::move(*part)));
}

Observer SampleCapture::observer() {
    auto keep = [this](auto&& step) {
        if (Status kept = caught(step); !kept) part_->discard();
    };
    return {.opened = [=, this](const Opened& opened) { keep([&] { write_devices(opened.devices); }); },
            .on_poll = [=, this](const PollResult& polled) { keep([&] { add(polled); }); },
            .broken =
                [=, this](const std::string& what) {
                    keep([&] { part_->add_loss("recorder_loss", 1, "samples of the devices: " + what); });
                }};
}

void SampleCapture::write_devices(const std::vector<SampledDevice>& devices) {
    for (const SampledDevice& device : devices) {
        RowBuffer& row = part_->table("device").add();
        row.set("device", device.device).set("name", part_->intern(device.name)).set("vendor", part_->intern("nvidia"));
        if (!device.uuid.empty()) row.set("uuid", part_->intern(device.uuid));
    }
    (void)part_->flush();
}

void SampleCapture::add(const PollResult& polled) {
    for (const std::vector<Reading>* readings : {&polled.readings, &polled.energy})
        for (const Reading& reading : *readings)
            for (const MetricSpec& spec : kMetrics)
                if (std::optional<double> value = reading.get(spec.metric))
                    add_row(reading.time, reading.device, spec, *value);
    for (const ProcessReading& process : polled.processes) {
        if (process.mem_used_mb)
            add_row(process.time, process.device, spec_of(Metric::mem_used), *process.mem_used_mb)
                .set("pid", process.pid);
        if (process.util_gpu)
            add_row(process.time, process.device, spec_of(Metric::util_gpu), *process.util_gpu).set("pid", process.pid);
    }
    if (part_->waiting() >= kRowsPerFlush) (void)part_->flush();
}

RowBuffer& SampleCapture::add_row(TimeNs time, std::int32_t device, const MetricSpec& spec, double value) {
    RowBuffer& row = part_->table("sample").add();
    row.set("time", time).set("device", device).set("metric", part_->intern(spec.name)).set_real("value", value);
    if (spec.unit != Unit::none) row.set("unit", part_->intern(name_of(spec.unit)));
    return row;
}

}  // namespace gpuprof::device
