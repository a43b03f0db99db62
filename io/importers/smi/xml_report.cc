#include "io/importers/smi/xml_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/schema/metrics.h"
#include "core/schema/plausible.h"
#include "io/importers/row_values.h"
#include "io/smi/smi_cells.h"

namespace gpuprof::inline importers::smi_log {
namespace {

constexpr std::size_t kMaxDepth = 32;

// Where a reference metric is within <gpu>. Older drivers have power_readings.
struct Place {
    std::string_view path;
    Metric metric;
};
constexpr Place kPlaces[] = {{"utilization.gpu_util", Metric::util_gpu},
                             {"utilization.memory_util", Metric::util_mem},
                             {"fb_memory_usage.used", Metric::mem_used},
                             {"fb_memory_usage.total", Metric::mem_total},
                             {"gpu_power_readings.average_power_draw", Metric::power},
                             {"gpu_power_readings.power_draw", Metric::power},
                             {"power_readings.power_draw", Metric::power},
                             {"temperature.gpu_temp", Metric::temp},
                             {"clocks.sm_clock", Metric::sm_clock},
                             {"clocks.mem_clock", Metric::mem_clock},
                             {"performance_state", Metric::pstate},
                             {"pci.pci_gpu_link_info.pcie_gen.current_link_gen", Metric::pcie_gen}};
// Lists of possible values, not actual ones.
constexpr std::string_view kSkippedElements[] = {"supported_clocks", "processes", "accounted_processes"};

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    std::size_t begin = text.find_first_not_of(kBlank);
    return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// Calls begin(name), text(text) and end() in file order; false at malformed XML. Entities stay as they are: numbers
// have none.
template <class Begin, class Text, class End>
bool walk_xml(std::string_view rest, Begin begin, Text text, End end) {
    while (true) {
        std::size_t open = rest.find('<');
        if (open == rest.npos) return trimmed(rest).empty();
        text(trimmed(rest.substr(0, open)));
        std::size_t close = rest.find('>', open);
        if (close == rest.npos) return false;
        std::string_view tag = rest.substr(open + 1, close - open - 1);
        rest.remove_prefix(close + 1);
        if (tag.empty() || tag[0] == '?' || tag[0] == '!') continue;
        if (tag[0] == '/') {
            end();
            continue;
        }
        begin(tag.substr(0, tag.find_first_of(" /\t\r\n")));
        if (tag.back() == '/') end();
    }
}

// "Sat Nov 21 19:11:02 2026", local time; read as UTC.
std::optional<TimeNs> time_of(std::string_view text) {
    using namespace std::chrono;
    constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
    int day_of_month = 0, hour = 0, minute = 0, second = 0, in_year = 0;
    char name[4] = {};
    if (std::sscanf(std::string(text).c_str(), "%*3s %3s %d %d:%d:%d %d", name, &day_of_month, &hour, &minute, &second,
                    &in_year) != 6)
        return std::nullopt;
    std::size_t at = kMonths.find(name);
    bool sound = at != kMonths.npos && at % 3 == 0 && day_of_month > 0 && hour >= 0 && hour < 24 && minute >= 0 &&
                 minute < 60 && second >= 0 && second < 61 && in_year >= 1970 && in_year <= 2200;
    year_month_day date{year(in_year), month(static_cast<unsigned>(at / 3 + 1)),
                        day(static_cast<unsigned>(day_of_month))};
    if (!sound || !date.ok()) return std::nullopt;
    std::int64_t seconds = std::int64_t{sys_days(date).time_since_epoch().count()} * 86400 + hour * 3600 + minute * 60;
    return (seconds + second) * 1'000'000'000;
}

class Answers {
public:
    explicit Answers(Batch& batch) : batch_(batch) {}

    void read(std::string_view xml) {
        bool whole = walk_xml(
            xml, [this](std::string_view name) { begin(name); }, [this](std::string_view text) { text_ = text; },
            [this] { end(); });
        if (!whole || !path_.empty()) batch_.lose(Loss::truncated, "nvidia_smi_log");
    }
    bool timed() const { return timed_; }

private:
    void begin(std::string_view name) {
        path_.push_back(name);
        if (name == "nvidia_smi_log") {
            time_.reset();
            device_ = -1;
        }
        if (name == "gpu" && path_.size() == 2) {
            ++device_;
            row_ = described_.contains(device_) ? kNoRow : describe();
        }
        leaf_ = true;
    }

    void end() {
        if (path_.empty()) return;
        if (leaf_ && path_.size() <= kMaxDepth) take();
        path_.pop_back();
        leaf_ = false;
    }

    // The element that ends now contains text_ and no other element.
    void take() {
        bool of_gpu = path_.size() > 2 && path_[1] == "gpu";
        if (!of_gpu) {
            if (path_.back() != "timestamp") return;
            time_ = time_of(text_);
            timed_ |= time_.has_value();
            return;
        }
        if (text_.empty() || smi::problem_of(text_) || text_ == "N/A") return;
        if (std::find(std::begin(kSkippedElements), std::end(kSkippedElements), path_[2]) != std::end(kSkippedElements))
            return;
        DeviceTable& devices = batch_.tables.device;
        if (row_ != kNoRow && path_.size() == 3 && path_[2] == "product_name")
            devices.name.set(row_, batch_.intern(text_));
        if (row_ != kNoRow && path_.size() == 3 && path_[2] == "uuid" && text_.starts_with("GPU-"))
            devices.uuid.set(row_, batch_.intern(text_));
        sample();
    }

    void sample() {
        std::string path;
        for (std::size_t i = 2; i < path_.size(); ++i) path += (path.empty() ? "" : ".") + std::string(path_[i]);
        for (const Place& place : kPlaces) {
            if (place.path != path) continue;
            smi::MetricCell read = smi::read_metric(place.metric, std::string(text_));
            const MetricSpec& spec = spec_of(place.metric);
            if (read.value)
                add(spec.name, spec.unit == Unit::none ? std::string_view() : name_of(spec.unit), *read.value);
            else
                batch_.lose(Loss::bad_number, fmt::format("{}: {}", path, text_));
            return;
        }
        // A number, or a number and its unit; ids, versions and words are not numbers.
        std::size_t space = std::min(text_.find(' '), text_.size());
        std::string_view unit = trimmed(text_.substr(space));
        std::optional<double> value = smi::number_of(text_.substr(0, space));
        bool is_number = value && text_.find_first_not_of("-0123456789. ") >= space && !text_.starts_with("0x");
        if (!is_number || unit.find(' ') != unit.npos) return;
        if (may_be(path, *value))
            add(path, unit, *value);
        else
            batch_.lose(Loss::bad_number, fmt::format("{}: {}", path, text_));
    }
    // The name of a metric is used only for plausible values of that metric.
    static bool may_be(std::string_view name, double value) {
        for (const MetricSpec& spec : kMetrics)
            if (spec.name == name) return plausible(spec.metric, value);
        return true;
    }

    void add(std::string_view metric, std::string_view unit, double value) {
        SampleTable& table = batch_.tables.sample;
        Row row = table.add();
        set_known(table.time, row, time_);
        table.device.set(row, device_);
        table.metric.set(row, batch_.intern(metric));
        set_text(batch_, table.unit, row, unit);
        table.value.set(row, value);
    }

    Row describe() {
        described_[device_] = true;
        DeviceTable& table = batch_.tables.device;
        Row row = table.add();
        table.device.set(row, device_);
        table.vendor.set(row, batch_.intern("nvidia"));
        return row;
    }

    Batch& batch_;
    std::vector<std::string_view> path_;  // of open elements
    std::string_view text_;
    bool leaf_ = false, timed_ = false;
    std::optional<TimeNs> time_;
    std::int32_t device_ = -1;
    Row row_ = kNoRow;  // of the device, while it is first described
    std::map<std::int32_t, bool> described_;
};

}  // namespace

std::string_view read_reports(std::string_view xml, Batch& batch) {
    Answers answers(batch);
    answers.read(xml);
    return answers.timed() ? "local times of the machine, read as UTC: nvidia-smi does not record the time zone"
                           : "no readable time in the output";
}

}  // namespace gpuprof::importers::smi_log
