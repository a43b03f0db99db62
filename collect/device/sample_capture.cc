#include "collect/device/sample_capture.h"

#include <array>

namespace gpuprof {

Result<std::unique_ptr<SampleCapture>> SampleCapture::open(const std::string& file) {
    Result<FileSink> sink = FileSink::open(file);
    if (!sink.ok()) return sink.error();
    std::unique_ptr<SampleCapture> capture(new SampleCapture(std::move(*sink)));
    capture->status_ = capture->writer_.begin();
    std::array<StringId, 1> key{capture->strings_.intern("tool")},
        value{capture->strings_.intern("gpu-profile sampling")};
    std::array<ColumnView, 2> columns{ColumnView{"key", ColumnType::Str, "", key.data(), nullptr},
                                      ColumnView{"value", ColumnType::Str, "", value.data(), nullptr}};
    if (capture->status_) capture->status_ = capture->writer_.write({"meta", 1, columns}, capture->strings_);
    capture->file_.flush();
    return capture;
}

SampleCapture::~SampleCapture() { (void)close(); }

Status SampleCapture::close() {
    if (closed_) return status_;
    closed_ = true;
    (void)flush();
    if (status_) status_ = writer_.end();
    Status written = file_.close();
    if (status_) status_ = written;
    return status_;
}

Observer SampleCapture::observer() {
    return {.opened = [this](const Opened& opened) { write_devices(opened.devices); },
            .harvested = [this](const Harvest& harvest) { add(harvest); }};
}

void SampleCapture::write_devices(const std::vector<SampledDevice>& devices) {
    std::vector<std::int32_t> ordinal;
    std::vector<StringId> name, uuid, vendor;
    for (const SampledDevice& device : devices) {
        ordinal.push_back(device.device);
        name.push_back(strings_.intern(device.name));
        uuid.push_back(device.uuid.empty() ? kNoString : strings_.intern(device.uuid));
        vendor.push_back(strings_.intern("nvidia"));
    }
    std::array<ColumnView, 4> columns{ColumnView{"device", ColumnType::I32, "", ordinal.data(), nullptr},
                                      ColumnView{"name", ColumnType::Str, "", name.data(), nullptr},
                                      ColumnView{"vendor", ColumnType::Str, "", vendor.data(), nullptr},
                                      ColumnView{"uuid", ColumnType::Str, "", uuid.data(), nullptr}};
    if (status_) status_ = writer_.write({"device", ordinal.size(), columns}, strings_);
}

void SampleCapture::add(const Harvest& harvest) {
    constexpr std::int64_t kDevice = -1;
    for (const Reading& reading : harvest.readings)
        for (const MetricSpec& spec : kMetrics)
            if (std::optional<double> value = reading.get(spec.metric))
                add_row(reading.time, reading.device, spec, *value, kDevice);
    for (const ProcessReading& process : harvest.processes) {
        if (process.mem_used_mb)
            add_row(process.time, process.device, spec_of(Metric::mem_used), *process.mem_used_mb, process.pid);
        if (process.util_gpu)
            add_row(process.time, process.device, spec_of(Metric::util_gpu), *process.util_gpu, process.pid);
    }
    if (time_.size() >= kRows) (void)flush();
}

void SampleCapture::add_row(TimeNs time, std::int32_t device, const MetricSpec& spec, double value, std::int64_t pid) {
    std::size_t row = time_.size();
    time_.push_back(time);
    device_.push_back(device);
    metric_.push_back(strings_.intern(spec.name));
    unit_.push_back(spec.unit == Unit::none ? kNoString : strings_.intern(name_of(spec.unit)));
    value_.push_back(value);
    pid_.push_back(pid);
    if (row % 64 == 0) has_pid_.push_back(0);
    if (pid >= 0) has_pid_.back() |= std::uint64_t{1} << (row % 64);
}

Status SampleCapture::flush() {
    std::array<ColumnView, 6> columns{ColumnView{"time", ColumnType::Time, "ns", time_.data(), nullptr},
                                      ColumnView{"device", ColumnType::I32, "", device_.data(), nullptr},
                                      ColumnView{"metric", ColumnType::Str, "", metric_.data(), nullptr},
                                      ColumnView{"unit", ColumnType::Str, "", unit_.data(), nullptr},
                                      ColumnView{"value", ColumnType::F64, "", value_.data(), nullptr},
                                      ColumnView{"pid", ColumnType::I64, "", pid_.data(), has_pid_.data()}};
    if (status_ && !time_.empty()) status_ = writer_.write({"sample", time_.size(), columns}, strings_);
    time_.clear(), device_.clear(), metric_.clear(), unit_.clear(), value_.clear(), pid_.clear(), has_pid_.clear();
    file_.flush();
    if (status_ && file_.failed()) status_ = file_.close();
    return status_;
}

}  // namespace gpuprof
