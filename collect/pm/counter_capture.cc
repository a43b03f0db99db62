#include "collect/pm/counter_capture.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/schema/losses.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::pm {

Result<std::unique_ptr<CounterCapture>> CounterCapture::open(const std::string& file) {
    Result<std::unique_ptr<CapturePart>> part = CapturePart::open(file, meta_key::kRecorderTool);
    if (!part.ok()) return part.error();
    return std::unique_ptr<CounterCapture>(new CounterCapture(std::move(*part)));
}

void CounterCapture::add(std::int32_t device, TimeNs time, std::span<const PmCounter> counters,
                         std::span<const double> values) {
    Series& series = series_[device];
    if (series.counters.empty()) series.counters.assign(counters.begin(), counters.end());
    series.times.push_back(time);
    series.values.insert(series.values.end(), values.begin(), values.end());
}

void CounterCapture::lose(std::int32_t device, std::uint64_t sample_times, std::string_view where) {
    losses_[fmt::format("counters of device {}: {}", device, where)] += sample_times;
}

void CounterCapture::clocks(TimeNs realtime, std::int64_t cupti) {
    part_->table("clock").add().set("clock", part_->intern("cupti")).set("time", realtime).set("other", cupti);
}

void CounterCapture::write_samples() {
    std::vector<TimeNs> time;
    std::vector<std::int32_t> devices;
    std::vector<StringId> metric, unit;
    std::vector<double> value;
    for (auto& [device, series] : series_) {
        std::size_t width = series.counters.size();
        for (std::size_t column = 0; column < width; ++column) {
            const PmCounterSpec& spec = spec_of(series.counters[column]);
            StringId name = part_->intern(spec.name), in = part_->intern(name_of(spec.unit));
            for (std::size_t row = 0; row < series.times.size(); ++row) {
                double each = series.values[row * width + column];
                if (!std::isfinite(each)) continue;
                time.push_back(series.times[row]);
                devices.push_back(device);
                metric.push_back(name);
                unit.push_back(in);
                value.push_back(each);
            }
        }
        series.times.clear();
        series.values.clear();
    }
    std::array<ColumnView, 5> columns{ColumnView{"time", ColumnType::Time, "ns", time.data(), nullptr},
                                      ColumnView{"device", ColumnType::I32, "", devices.data(), nullptr},
                                      ColumnView{"metric", ColumnType::Str, "", metric.data(), nullptr},
                                      ColumnView{"unit", ColumnType::Str, "", unit.data(), nullptr},
                                      ColumnView{"value", ColumnType::F64, "", value.data(), nullptr}};
    part_->write({"sample", time.size(), columns});
}

Status CounterCapture::flush() {
    write_samples();
    for (const auto& [where, sample_times] : losses_)
        part_->add_loss(spec_of(Loss::recorder_loss).name, static_cast<std::int64_t>(sample_times), where);
    losses_.clear();
    return part_->flush();
}

Status CounterCapture::close() {
    (void)flush();
    return part_->close();
}

}  // namespace gpuprof::pm
