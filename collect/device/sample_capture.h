// Samples as a capture file, written while they come: what is in the file is readable whenever the process dies.
// Tables: device, sample, meta. Every metric present in a reading is one row.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collect/device/monitor.h"
#include "core/base/file_sink.h"
#include "core/base/result.h"
#include "core/base/string_pool.h"
#include "core/format/writer.h"

namespace gpuprof {

class SampleCapture {
public:
    // Opens `file`, emptied first.
    static Result<std::unique_ptr<SampleCapture>> open(const std::string& file);
    // Writes what is not written yet.
    ~SampleCapture();

    // Feeds this object, which must outlive the monitor.
    Observer observer();
    // Writes the rows so far; the first failure of the file, said once and kept.
    Status flush();
    // Writes the rest and the end; nothing may come after.
    Status close();

private:
    explicit SampleCapture(FileSink file) : file_(std::move(file)), writer_(file_) {}
    void write_devices(const std::vector<SampledDevice>& devices);
    void add(const Harvest& harvest);
    void add_row(TimeNs time, std::int32_t device, const MetricSpec& spec, double value, std::int64_t pid);

    static constexpr std::size_t kRows = 16'384;

    FileSink file_;
    CaptureWriter writer_;
    Status status_;
    bool closed_ = false;
    StringPool strings_;
    std::vector<std::int64_t> time_, pid_;
    std::vector<std::int32_t> device_;
    std::vector<StringId> metric_, unit_;
    std::vector<double> value_;
    std::vector<std::uint64_t> has_pid_;
};

}  // namespace gpuprof
