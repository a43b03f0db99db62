// replay:FILE replays a recorded series at its original speed. replay:FILE@max delivers all of it at once, with the
// recorded times. The output is always labelled as a replay. It shows sampling on machines without a GPU, and tests
// with known numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <sstream>

#include "collect/device/device_source.h"
#include "core/base/clock.h"
#include "core/base/whole_file.h"
#include "core/format/series_csv.h"

namespace gpuprof::inline device {
namespace {

constexpr std::string_view kPrefix = "replay:", kAtOnce = "@max";
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;

class ReplaySource final : public DeviceSource {
public:
    ReplaySource(RecordedSeries series, std::string file, bool at_once, const std::set<std::int32_t>& wanted)
        : series_(std::move(series)), file_(std::move(file)), at_once_(at_once) {
        std::set<std::int32_t> present;
        for (const Reading& reading : series_.readings) present.insert(reading.device);
        std::erase_if(series_.readings,
                      [&](const Reading& r) { return !wanted.empty() && wanted.count(r.device) == 0; });
        for (std::int32_t device : present) {
            if (!wanted.empty() && wanted.count(device) == 0) continue;
            SampledDevice known;
            known.device = device;
            known.name = "(replayed)";
            devices_.push_back(known);
        }
    }

    std::string_view name() const override { return "replay"; }
    std::span<const SampledDevice> devices() const override { return devices_; }
    bool immediate() const override { return at_once_; }
    bool ended() const override { return next_ == series_.readings.size(); }

    void collect(MetricSet, PollResult& to) override {
        if (series_.readings.empty()) return;
        TimeNs first = series_.readings.front().time;
        if (started_ == 0) {
            started_ = realtime_ns();
            started_monotonic_ = monotonic_ns();
        }
        DurNs passed = at_once_ ? INT64_MAX : monotonic_ns() - started_monotonic_;
        for (; next_ < series_.readings.size() && series_.readings[next_].time - first <= passed; ++next_) {
            Reading reading = series_.readings[next_];
            reading.time += started_ - first;
            to.readings.push_back(reading);
        }
    }

    std::vector<std::string> notes() const override {
        double seconds = static_cast<double>(series_.readings.back().time - series_.readings.front().time) / 1e9;
        std::vector<std::string> notes{
            fmt::format("replayed from {} ({:.2f} s, {} readings){}, not measured on this machine", file_, seconds,
                        series_.readings.size(), at_once_ ? ", all at once" : "")};
        if (series_.bad_lines > 0)
            notes.push_back(fmt::format("{} lines of {} are not readings and were skipped", series_.bad_lines, file_));
        return notes;
    }

private:
    RecordedSeries series_;
    std::string file_;
    bool at_once_;
    std::vector<SampledDevice> devices_;
    std::size_t next_ = 0;
    TimeNs started_ = 0, started_monotonic_ = 0;
};

// Numbers of a list such as "0,2"; empty for "all".
Result<std::set<std::int32_t>> wanted_devices(const std::string& devices) {
    std::set<std::int32_t> wanted;
    if (devices == "all") return wanted;
    std::istringstream words(devices);
    for (std::string word; std::getline(words, word, ',');) {
        if (word.empty() || word.size() > 4 || word.find_first_not_of("0123456789") != std::string::npos)
            return Error{ExitCode::usage,
                         fmt::format("invalid device '{}'; expected all, or numbers separated by commas", word)};
        wanted.insert(std::stoi(word));
    }
    return wanted;
}

}  // namespace

Result<std::unique_ptr<DeviceSource>> open_replay(const SourceRequest& request) {
    std::string file = request.backend.substr(kPrefix.size());
    bool at_once = file.size() > kAtOnce.size() && file.substr(file.size() - kAtOnce.size()) == kAtOnce;
    if (at_once) file.resize(file.size() - kAtOnce.size());
    Result<std::set<std::int32_t>> wanted = wanted_devices(request.devices);
    if (!wanted.ok()) return wanted.error();
    Result<std::string> text = read_whole_file(file, kMaxBytes);
    if (!text.ok()) return text.error();
    Result<RecordedSeries> series = parse_series(*text, file);
    if (!series.ok()) return series.error();
    auto source = std::make_unique<ReplaySource>(std::move(*series), file, at_once, *wanted);
    if (source->devices().empty())
        return Error{ExitCode::usage,
                     fmt::format("unknown device '{1}'; {0} has no samples of it", file, request.devices)};
    return std::unique_ptr<DeviceSource>(std::move(source));
}

}  // namespace gpuprof::device
