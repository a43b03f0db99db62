// `gpu-profile [OPTIONS] -- CMD`: samples the devices while a command runs, then reports on standard error how busy
// they were. The command keeps its streams, signals, terminal and exit status. This program adds lines to standard
// error at the end, adds one JSON line to standard output with --json, and exits as the command did.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "collect/device/device_reading.h"
#include "collect/device/monitor.h"
#include "collect/device/monitor_options.h"
#include "collect/device/repeats.h"
#include "collect/device/sample_capture.h"
#include "collect/launch/target.h"
#include "core/base/caught.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/base/text/readable.h"
#include "core/format/series_csv.h"
#include "present/report/text_lines.h"

namespace gpuprof::inline cli {
namespace {

// The CSV file of `--csv`. Unlike other outputs it grows in place, so that it can be followed while it is written. It
// takes its name when the command starts (an earlier file stays until then), always ends with a complete line, and lags
// sampling by a fraction of a second.

class SampleCsv {
public:
    static Result<std::unique_ptr<SampleCsv>> open(const std::string& file);
    // Creates the file; further calls do nothing. close() repeats a failure.
    void publish();
    // Polls arrive in batches, at most ten times a second, and are written at once; times count from `started`.
    // Thread-safe.
    void add(const PollResult& polled, TimeNs started);
    // Must be the last call.
    Status close() { return output_.close(); }

private:
    explicit SampleCsv(Output output) : output_(std::move(output)) {}
    std::mutex mutex_;
    Output output_;
};

Result<std::unique_ptr<SampleCsv>> SampleCsv::open(const std::string& file) {
    Result<Output> output = Output::open(file);
    if (!output.ok()) return output.error();
    output->write(series_heading());
    return std::unique_ptr<SampleCsv>(new SampleCsv(std::move(*output)));
}

void SampleCsv::publish() {
    std::lock_guard lock(mutex_);
    (void)output_.publish();
}

void SampleCsv::add(const PollResult& polled, TimeNs started) {
    std::lock_guard lock(mutex_);
    for (const Reading& reading : polled.readings) output_.write(series_line(reading, started));
    output_.flush();
}

// One terminal line with the newest sample of each device while a command runs; erased when it is cleared.

class LiveLine {
public:
    // Newest reading per device; redrawn at most ten times a second.
    void show(const PollResult& polled);
    void clear();

private:
    std::map<std::int32_t, Reading> newest_;
    TimeNs drawn_ = 0;
    bool visible_ = false;
};

std::string describe(const Reading& reading) {
    std::string text = fmt::format("GPU {}", reading.device);
    if (auto util = reading.get(Metric::util_gpu)) text += fmt::format(" {:3.0f} %", *util);
    if (auto used = reading.get(Metric::mem_used)) text += fmt::format(" {}", readable_bytes(*used * 1024 * 1024));
    if (auto power = reading.get(Metric::power)) text += fmt::format(" {:.0f} W", *power);
    if (auto temp = reading.get(Metric::temp)) text += fmt::format(" {:.0f} C", *temp);
    return text;
}

void LiveLine::show(const PollResult& polled) {
    for (const Reading& reading : polled.readings) newest_[reading.device] = reading;
    TimeNs now = monotonic_ns();
    if (newest_.empty() || now - drawn_ < 100'000'000) return;
    drawn_ = now;
    std::string line;
    for (const auto& [device, reading] : newest_) line += (line.empty() ? "" : "  |  ") + describe(reading);
    auto room = static_cast<std::size_t>(style_for("-").width - 1);
    if (line.size() > room) line.resize(room);
    fmt::print(stderr, "\r{:<{}}", line, room);
    std::fflush(stderr);
    visible_ = true;
}

void LiveLine::clear() {
    if (visible_) fmt::print(stderr, "\r{:<{}}\r", "", style_for("-").width - 1);
    visible_ = false;
}

struct ProfileArguments {
    std::string devices = "0", backend = "auto";
    double interval = 0.2, warmup = 0;
    bool strict = false, json = false, live = false;
    std::string output, csv, capture;
    int repeats = 1, warmup_runs = 0;
    std::vector<std::string> command;
};

// Files that receive samples while they arrive.
struct Records {
    std::unique_ptr<SampleCapture> capture;
    std::unique_ptr<SampleCsv> csv;
    std::unique_ptr<LiveLine> live;

    Status open(const ProfileArguments& arguments) {
        if (!arguments.capture.empty()) {
            Result<std::unique_ptr<SampleCapture>> opened =
                SampleCapture::open(arguments.capture, CapturePart::Publish::at_close);
            if (!opened.ok()) return opened.error();
            capture = std::move(*opened);
        }
        if (!arguments.csv.empty()) {
            Result<std::unique_ptr<SampleCsv>> opened = SampleCsv::open(arguments.csv);
            if (!opened.ok()) return opened.error();
            csv = std::move(*opened);
        }
        if (arguments.live && isatty(STDERR_FILENO) != 0) live = std::make_unique<LiveLine>();
        return {};
    }
    Observer observer(TimeNs started) {
        Observer to_capture = capture ? capture->observer() : Observer{};
        return {.opened = to_capture.opened, .on_poll = [this, to_capture, started](const PollResult& polled) {
                    if (to_capture.on_poll) to_capture.on_poll(polled);
                    if (csv) csv->add(polled, started);
                    if (live) live->show(polled);
                }};
    }
    void command_started() const {
        if (csv) csv->publish();
    }
    // Files that are not complete are removed.
    std::array<Status, 3> close() noexcept {
        std::array<Status, 3> closed;
        if (live) closed[0] = caught([&] { live->clear(); });
        if (capture) closed[1] = capture->close();
        if (csv) closed[2] = caught([&] { return csv->close(); });
        capture.reset();
        csv.reset();
        return closed;
    }
};

MonitorOptions monitor_options(const ProfileArguments& arguments, Observer observer) {
    MonitorOptions options;
    options.request.devices = arguments.devices;
    options.request.backend = arguments.backend;
    options.request.interval = static_cast<DurNs>(arguments.interval * 1e9);
    options.warmup = static_cast<DurNs>(arguments.warmup * 1e9);
    options.strict = arguments.strict;
    options.start_timeout = arguments.strict ? 15'000'000'000 : -1;  // the command does not wait for the driver
    options.observer = std::move(observer);
    options.request.see_visible_devices();
    return options;
}

Status check(const ProfileArguments& arguments) {
    if (arguments.command.empty())
        return Error{ExitCode::usage, "no command to run; usage: gpu-profile [OPTIONS] -- COMMAND [ARGUMENT...]"};
    return check_backend(arguments.backend);
}

// The files that it writes, and those that it reads: a recorded series, and any word of the command.
Status check_files(const ProfileArguments& arguments) {
    std::vector<std::string> inputs = arguments.command;
    if (std::string_view series = arguments.backend; series.substr(0, 7) == "replay:") {
        inputs.emplace_back(series.substr(7));
        inputs.emplace_back(series.substr(7, series.rfind('@') - 7));
    }
    return check_outputs(std::array{arguments.output, arguments.csv, arguments.capture}, inputs);
}

// One line of JSON: the summary, {"devices": [...]} for several, or {"runs": [...], "stats": {...}} for repeated runs.
std::string json_line(const std::vector<std::vector<GpuSummary>>& runs) {
    auto one = [](const std::vector<GpuSummary>& devices) {
        if (devices.size() == 1) return to_json(devices[0]);
        std::string text;
        for (const GpuSummary& summary : devices) text += (text.empty() ? "" : ", ") + to_json(summary);
        return fmt::format("{{\"devices\": [{}]}}", text);
    };
    if (runs.size() == 1) return one(runs[0]) + '\n';
    std::string text;
    for (const std::vector<GpuSummary>& run : runs) text += (text.empty() ? "" : ", ") + one(run);
    return fmt::format("{{\"runs\": [{}], \"stats\": {}}}\n", text, repeats_json(first_devices(runs)));
}

Status show(const ProfileArguments& arguments, const std::vector<std::vector<GpuSummary>>& runs) {
    int width = style_for("-").width;
    std::string text;
    for (const GpuSummary& summary : runs.back()) text += to_text(summary, width);
    if (runs.size() > 1) text += repeats_text(first_devices(runs));
    fmt::print(stderr, "{}", text);
    if (!arguments.json && arguments.output.empty()) return {};
    Result<Output> output = Output::open(arguments.output.empty() ? "-" : arguments.output);
    if (!output.ok()) return output.error();
    output->write(json_line(runs));
    return output->close();
}

Result<ExitCode> profile(const ProfileArguments& arguments) {
    if (Status sound = check(arguments); !sound) return sound.error();
    if (Status free = check_files(arguments); !free) return free.error();
    Target target;  // before any thread exists
    Records records;
    if (Status opened = records.open(arguments); !opened) return opened.error();
    TargetExit end;
    for (int run = 0; run < arguments.warmup_runs && !end.failed(); ++run) {
        if (Status started = target.start(arguments.command); !started) return started.error();
        end = target.wait();
    }
    std::vector<std::vector<GpuSummary>> runs;
    for (int run = 0; run < arguments.repeats && !end.failed(); ++run) {
        Monitor monitor(monitor_options(arguments, records.observer(realtime_ns())));
        if (Status sampling = monitor.start(); !sampling) return sampling.error();
        if (Status started = target.start(arguments.command); !started) return started.error();
        records.command_started();
        end = target.wait();
        Status sampled = caught([&] {
            monitor.stop();
            runs.push_back(monitor.summaries());
        });
        note_failure(sampled);
        if (!sampled) break;
    }
    std::array<Status, 3> closed = records.close();
    if (!runs.empty()) note_failure(caught([&] { return show(arguments, runs); }));
    for (const Status& status : closed) note_failure(status);
    if (end.failed() && static_cast<int>(runs.size()) < arguments.repeats)
        note(fmt::format("the command failed in run {} of {}; the remaining runs were skipped",
                         runs.empty() ? "the warm-up" : std::to_string(runs.size()), arguments.repeats));
    exit_like(end);
}

std::function<Result<ExitCode>()> declare_profile(CommandLine& line) {
    auto arguments = std::make_shared<ProfileArguments>();
    line.option(spec_of(kMonitorOptions, "devices"), arguments->devices);
    line.option(spec_of(kMonitorOptions, "interval_ns"), arguments->interval).seconds(0.001, 3600);
    line.option(spec_of(kMonitorOptions, "warmup_ns"), arguments->warmup).seconds(0, 1e6);
    line.option(spec_of(kMonitorOptions, "backend"), arguments->backend);
    const OptionSpec& strict = spec_of(kMonitorOptions, "strict");
    line.flag(std::string(strict.flag), arguments->strict, std::string(strict.doc));
    line.flag("--json", arguments->json,
              "Write the summary as one JSON line to standard output, after the command's output.");
    line.option("--output", arguments->output, "Write the JSON line to this file instead.").value("FILE");
    line.option("--csv", arguments->csv, "Write every sample to this file as CSV; --backend replay:FILE replays it.")
        .value("FILE");
    line.option(spec_of(kSampleOptions, "capture"), arguments->capture);
    line.option("--repeats", arguments->repeats, "Number of runs to measure and compare (default: 1).")
        .integer_range(1, 100'000)
        .value("N");
    line.option("--warmup-runs", arguments->warmup_runs, "Number of runs before that, without sampling (default: 0).")
        .integer_range(0, 100'000)
        .value("M");
    line.flag("--live", arguments->live, "Show the newest sample on one line of the terminal.");
    line.option("command", arguments->command, "Command to run and its arguments, after --.").value("CMD");
    return [arguments] { return profile(*arguments); };
}

}  // namespace

extern const Command kProfileCommand;
const Command kProfileCommand{"profile",
                              "Monitor GPUs",
                              "[OPTIONS] -- CMD...",
                              "Sample the GPUs while CMD runs; the word profile may be omitted.",
                              declare_profile,
                              "command"};

}  // namespace gpuprof::cli
