#include "collect/pm/counter_capture.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/schema/losses.h"

namespace gpuprof::pm {

Result<std::unique_ptr<CounterCapture>> CounterCapture::open(const std::string& file) {
    Result<FileSink> sink = FileSink::open(file);
    if (!sink.ok()) return sink.error();
    std::unique_ptr<CounterCapture> capture(new CounterCapture(std::move(*sink)));
    capture->status_ = capture->writer_.begin();
    return capture;
}

void CounterCapture::add(std::int32_t device, TimeNs time, std::span<const PmCounter> counters,
                         std::span<const double> values) {
    Series& series = series_[device];
    if (series.counters.empty()) series.counters.assign(counters.begin(), counters.end());
    series.times.push_back(time);
    series.values.insert(series.values.end(), values.begin(), values.end());
}

void CounterCapture::lose(std::int32_t device, std::uint64_t moments, std::string_view where) {
    losses_[fmt::format("counters of device {}: {}", device, where)] += moments;
}

void CounterCapture::write(std::string_view table, std::size_t rows, std::span<const ColumnView> columns) {
    if (status_ && rows > 0) status_ = writer_.write({table, rows, columns}, strings_);
}

void CounterCapture::fact(std::string_view key, std::string_view value) {
    std::array<StringId, 1> keys{strings_.intern(key)}, values{strings_.intern(value)};
    std::array<ColumnView, 2> columns{ColumnView{"key", ColumnType::Str, "", keys.data(), nullptr},
                                      ColumnView{"value", ColumnType::Str, "", values.data(), nullptr}};
    write("meta", 1, columns);
}

void CounterCapture::clocks(TimeNs realtime, std::int64_t cupti) {
    std::array<StringId, 1> names{strings_.intern("cupti")};
    std::array<ColumnView, 3> columns{ColumnView{"clock", ColumnType::Str, "", names.data(), nullptr},
                                      ColumnView{"time", ColumnType::Time, "ns", &realtime, nullptr},
                                      ColumnView{"other", ColumnType::I64, "", &cupti, nullptr}};
    write("clock", 1, columns);
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
            StringId name = strings_.intern(spec.name), in = strings_.intern(name_of(spec.unit));
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
        series.times.clear(), series.values.clear();
    }
    std::array<ColumnView, 5> columns{ColumnView{"time", ColumnType::Time, "ns", time.data(), nullptr},
                                      ColumnView{"device", ColumnType::I32, "", devices.data(), nullptr},
                                      ColumnView{"metric", ColumnType::Str, "", metric.data(), nullptr},
                                      ColumnView{"unit", ColumnType::Str, "", unit.data(), nullptr},
                                      ColumnView{"value", ColumnType::F64, "", value.data(), nullptr}};
    write("sample", time.size(), columns);
}

void CounterCapture::write_losses() {
    std::vector<StringId> kind, place;
    std::vector<std::int64_t> count;
    for (const auto& [where, moments] : losses_) {
        kind.push_back(strings_.intern(spec_of(Loss::recorder_loss).name));
        place.push_back(strings_.intern(where));
        count.push_back(static_cast<std::int64_t>(moments));
    }
    losses_.clear();
    std::array<ColumnView, 3> columns{ColumnView{"kind", ColumnType::Str, "", kind.data(), nullptr},
                                      ColumnView{"count", ColumnType::I64, "", count.data(), nullptr},
                                      ColumnView{"place", ColumnType::Str, "", place.data(), nullptr}};
    write("loss", kind.size(), columns);
}

Status CounterCapture::flush() {
    write_samples();
    write_losses();
    file_.flush();
    if (status_ && file_.failed()) status_ = file_.close();
    return status_;
}

Status CounterCapture::close() {
    (void)flush();
    if (status_) status_ = writer_.end();
    Status written = file_.close();
    if (status_) status_ = written;
    return status_;
}

}  // namespace gpuprof::pm
