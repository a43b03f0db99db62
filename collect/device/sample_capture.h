// Samples as a capture file, written while they arrive: everything written stays readable if the process dies. Tables:
// device, sample, meta. Each metric of a reading is one row.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collect/device/monitor.h"
#include "core/base/result.h"
#include "core/format/capture_part.h"

namespace gpuprof::inline device {

class SampleCapture {
public:
    static Result<std::unique_ptr<SampleCapture>> open(const std::string& file, CapturePart::Publish named);

    // Feeds this object, which must outlive the monitor.
    Observer observer();
    // The same as in CapturePart.
    Status publish() { return part_->publish(); }
    Status close() { return part_->close(); }

private:
    explicit SampleCapture(std::unique_ptr<CapturePart> part) : part_(std::move(part)) {}
    void write_devices(const std::vector<SampledDevice>& devices);
    void add(const PollResult& polled);
    RowBuffer& add_row(TimeNs time, std::int32_t device, const MetricSpec& spec, double value);

    std::unique_ptr<CapturePart> part_;
};

}  // namespace gpuprof::device
