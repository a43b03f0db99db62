// libgpuprof.so: the C interface over the C++ classes. No exception crosses into C.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capi/capi_options.h"
#include "capi/gpuprof.h"
#include "capi/guard.h"
#include "collect/device/monitor.h"
#include "collect/device/monitor_options.def"
#include "collect/device/sample_capture.h"
#include "core/base/json_error.h"
#include "core/base/text/command_line.h"
#include "core/base/text/json_writer.h"

namespace {

using namespace gpuprof;
using capi::guarded;

thread_local std::string last_text;

using Value = simdjson::dom::element;

bool read(const Value& value, std::string& to) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return false;
    to = text;
    return true;
}
bool read(const Value& value, std::int64_t& to) { return value.get(to) == simdjson::SUCCESS; }
bool read(const Value& value, std::optional<double>& to) {
    if (value.is_null()) {
        to.reset();
        return true;
    }
    double number = 0;
    if (value.get(number) != simdjson::SUCCESS) return false;
    to = number;
    return true;
}
bool read(const Value& value, std::vector<std::string>& to) {
    simdjson::dom::array items;
    if (value.get(items) != simdjson::SUCCESS) return false;
    to.clear();
    for (const Value& item : items)
        if (!read(item, to.emplace_back())) return false;
    return true;
}

// Parses a summary from its JSON form, the fields of core/schema/summary_fields.def. Unknown fields are ignored,
// missing and null ones absent.
Result<GpuSummary> summary_from_json(std::string_view json) {
    simdjson::dom::parser parser;
    simdjson::dom::object object;
    if (parse_text(parser, json, object) != simdjson::SUCCESS)
        return Error{ExitCode::usage, "invalid summary: not a JSON object"};
    GpuSummary summary;
    std::string_view wrong;
#define GPUPROF_READ_FIELD(type, name, unit, doc)                                                                  \
    if (Value value; object[#name].get(value) == simdjson::SUCCESS && !read(value, summary.name) && wrong.empty()) \
        wrong = #name;
    GPUPROF_SUMMARY_FIELDS(GPUPROF_READ_FIELD)
#undef GPUPROF_READ_FIELD
    if (!wrong.empty())
        return Error{ExitCode::usage, fmt::format("invalid summary: field {} has the wrong type", wrong)};
    return summary;
}

Result<MonitorOptions> options_of(const gpuprof_monitor_options& given) {
    constexpr std::int64_t kMinInterval = 1'000'000;
    MonitorOptions to;
    Status taken;
    GPUPROF_MONITOR_OPTIONS(GPUPROF_TAKE_OPTION)
    if (!taken) return taken.error();
    if (Status known = check_backend(to.request.backend); !known) return known.error();
    if (to.request.interval < kMinInterval)
        return Error{ExitCode::usage,
                     fmt::format("interval_ns must be at least 1000000 (1 ms), got {}", given.interval_ns)};
    if (to.warmup < 0) return Error{ExitCode::usage, "warmup_ns must not be negative"};
    to.request.see_visible_devices();
    return to;
}

// The values of one metric, or the times.
bool fill_column(const std::vector<Reading>& samples, TimeNs started, std::string_view field, double* out,
                 std::size_t capacity) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    std::size_t count = std::min(samples.size(), capacity);
    if (field == "time_s") {
        for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<double>(samples[i].time - started) / 1e9;
        return true;
    }
    for (const MetricSpec& spec : kMetrics) {
        if (spec.field != field) continue;
        for (std::size_t i = 0; i < count; ++i) out[i] = samples[i].get(spec.metric).value_or(kNone);
        return true;
    }
    return false;
}

std::string metrics_json() {
    StringSink sink;
    JsonWriter json(sink);
    json.begin_array();
    for (const MetricSpec& spec : kMetrics) {
        json.begin_object();
        json.member("field", spec.field);
        json.member("name", spec.name);
        json.member("unit", name_of(spec.unit));
        json.member("doc", spec.doc);
        json.end_object();
    }
    json.end_array();
    return sink.text();
}

}  // namespace

struct gpuprof_monitor {
    explicit gpuprof_monitor(MonitorOptions options) : monitor(std::move(options)) {}
    std::unique_ptr<SampleCapture> capture;  // outlives the monitor, whose thread writes to it
    Monitor monitor;
    std::string json;
    bool started = false;
};

extern "C" {

const char* gpuprof_version(void) { return GPUPROF_VERSION; }
const char* gpuprof_last_error(void) { return capi::last_error.c_str(); }

const char* gpuprof_command_text(const char* const* words, size_t count) {
    int code = guarded([&]() -> Status {
        if (words == nullptr && count > 0) return Error{ExitCode::usage, "words must not be NULL"};
        last_text = without_secrets(std::vector<std::string>(words, words + count));
        return {};
    });
    return code == 0 ? last_text.c_str() : nullptr;
}

int gpuprof_monitor_open(const gpuprof_monitor_options* given, gpuprof_monitor** monitor) {
    return guarded([&]() -> Status {
        if (monitor == nullptr) return Error{ExitCode::usage, "monitor must not be NULL"};
        *monitor = nullptr;
        if (given == nullptr || given->size < sizeof(gpuprof_monitor_options))
            return Error{ExitCode::usage, "gpuprof_monitor_options.size must be sizeof(gpuprof_monitor_options)"};
        Result<MonitorOptions> options = options_of(*given);
        if (!options.ok()) return options.error();
        std::unique_ptr<SampleCapture> capture;
        if (given->capture != nullptr) {
            Result<std::unique_ptr<SampleCapture>> opened =
                SampleCapture::open(given->capture, CapturePart::Publish::at_close);
            if (!opened.ok()) return opened.error();
            capture = std::move(*opened);
            options->observer = capture->observer();
        }
        *monitor = new gpuprof_monitor(std::move(*options));
        (*monitor)->capture = std::move(capture);
        return {};
    });
}

int gpuprof_monitor_start(gpuprof_monitor* monitor) {
    return guarded([&]() -> Status {
        if (monitor == nullptr) return Error{ExitCode::usage, "monitor must not be NULL"};
        Status started = monitor->monitor.start();
        monitor->started |= started.ok();
        return started;
    });
}

int gpuprof_monitor_stop(gpuprof_monitor* monitor) {
    return guarded([&]() -> Status {
        if (monitor == nullptr) return Error{ExitCode::usage, "monitor must not be NULL"};
        monitor->monitor.stop();
        return monitor->capture ? monitor->capture->publish() : Status();
    });
}

void gpuprof_monitor_free(gpuprof_monitor* monitor) {
    guarded([&]() -> Status {
        if (monitor == nullptr) return {};
        monitor->monitor.stop();
        Status written = monitor->capture && monitor->started ? monitor->capture->close() : Status();
        delete monitor;
        return written;
    });
}

size_t gpuprof_monitor_device_count(const gpuprof_monitor* monitor) {
    std::size_t count = 0;
    guarded([&]() -> Status {
        if (monitor != nullptr) count = monitor->monitor.devices().size();
        return {};
    });
    return count;
}

const char* gpuprof_monitor_summary_json(gpuprof_monitor* monitor, size_t index) {
    int failed = guarded([&]() -> Status {
        if (monitor == nullptr) return Error{ExitCode::usage, "monitor must not be NULL"};
        std::vector<GpuSummary> summaries = monitor->monitor.summaries();
        if (index >= summaries.size())
            return Error{ExitCode::usage, fmt::format("invalid summary index {}: the number of summaries is {}", index,
                                                      summaries.size())};
        monitor->json = to_json(summaries[index]);
        return {};
    });
    return failed != 0 ? nullptr : monitor->json.c_str();
}

const char* gpuprof_summary_text(const char* summary_json) {
    int failed = guarded([&]() -> Status {
        Result<GpuSummary> summary = summary_from_json(summary_json != nullptr ? summary_json : "");
        if (!summary.ok()) return summary.error();
        last_text = to_text(*summary);
        return {};
    });
    return failed != 0 ? nullptr : last_text.c_str();
}

size_t gpuprof_monitor_sample_count(const gpuprof_monitor* monitor, size_t index) {
    std::size_t count = 0;
    guarded([&]() -> Status {
        if (monitor != nullptr) count = monitor->monitor.samples(index).size();
        return {};
    });
    return count;
}

size_t gpuprof_monitor_column(const gpuprof_monitor* monitor, size_t index, const char* field, double* out,
                              size_t capacity) {
    std::size_t count = 0;
    int failed = guarded([&]() -> Status {
        if (monitor == nullptr || field == nullptr) return Error{ExitCode::usage, "monitor and field must not be NULL"};
        std::vector<Reading> samples = monitor->monitor.samples(index);
        if (!fill_column(samples, monitor->monitor.started(), field, out, out != nullptr ? capacity : 0))
            return Error{ExitCode::usage, fmt::format("unknown field '{}'", field)};
        count = samples.size();
        return {};
    });
    return failed != 0 ? static_cast<std::size_t>(-1) : count;
}

const char* gpuprof_metrics_json(void) {
    static const std::string kJson = metrics_json();
    return kJson.c_str();
}

}  // extern "C"
