// `trigger`: asks a job that runs under `record --standby` for captures: now, at a time, or for some steps; says what became of it.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "cli/command.h"
#include "cli/output.h"
#include "collect/launch/run_folder.h"
#include "core/base/clock.h"
#include "core/base/files/sink.h"
#include "core/base/text/json_writer.h"
#include "core/base/text/readable.h"
#include "core/base/text/shell_words.h"

namespace gpuprof::inline cli {
namespace {

using control::WindowState;
using launch::LauncherState;
using launch::ProcessState;

constexpr auto kTriggerLook = std::chrono::milliseconds(200);
constexpr DurNs kSecondNs = control::kSecondNs;

struct TriggerArguments {
    std::string folder, at, ranks = "*", format = "text";
    double seconds = 0, last = 0, wait = 0;
    std::int64_t steps = 0;
    bool stop = false, status = false;
};

// "2026-11-29T20:03:11.5Z"; local time without the Z.
std::optional<TimeNs> time_of_iso(std::string text) {
    bool utc = text.ends_with('Z');
    if (utc) text.pop_back();
    tm parts{};
    const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    if (rest == nullptr) return std::nullopt;
    double fraction = 0;
    if (*rest == '.') {
        std::optional<double> ns = duration_of_text("0" + std::string(rest), "s");
        if (!ns) return std::nullopt;
        fraction = *ns;
    } else if (*rest != '\0') {
        return std::nullopt;
    }
    parts.tm_isdst = -1;
    time_t seconds = utc ? timegm(&parts) : mktime(&parts);
    return seconds < 0 ? std::nullopt : std::optional(TimeNs{seconds} * kSecondNs + std::llround(fraction));
}

// A time, "+30s" from now, or "/10s": the next multiple of it on the clock, which hosts need not talk about.
Result<TimeNs> time_to_start(const std::string& at) {
    if (at.empty()) return TimeNs{0};
    TimeNs now = realtime_ns();
    std::optional<TimeNs> time;
    if (at[0] == '+' || at[0] == '/') {
        std::optional<double> ns = duration_of_text(at.substr(1), "s");
        constexpr double kLongest = 1e5 * 1e9;
        if (ns && *ns <= kLongest) {
            auto whole = static_cast<DurNs>(std::llround(*ns));
            if (at[0] == '+') time = now + whole;
            if (at[0] == '/' && whole > 0) time = (now / whole + 1) * whole;
        }
    } else {
        time = time_of_iso(at);
    }
    if (!time)
        return Error{ExitCode::usage, fmt::format("invalid --at '{}'; expected +30s, /10s, or a time such as "
                                                  "2026-11-29T20:03:11Z",
                                                  at)};
    if (*time < now) return Error{ExitCode::usage, fmt::format("--at {} has passed", at)};
    return *time;
}

// Local time of day with milliseconds.
std::string clock_text(TimeNs time) {
    time_t seconds = time / kSecondNs;
    tm parts{};
    localtime_r(&seconds, &parts);
    return fmt::format("{:02}:{:02}:{:02}.{:03}", parts.tm_hour, parts.tm_min, parts.tm_sec,
                       time % kSecondNs / 1'000'000);
}

struct Outcome {
    const LauncherState* launcher;
    const ProcessState* process;

    const control::Report& report() const { return process->report; }
    bool captured() const { return !process->capture.empty(); }
};

// A line per process that took part in a trigger; of number 0, everything that is known.
std::vector<Outcome> outcomes(const std::vector<LauncherState>& launchers, std::int64_t number) {
    std::vector<Outcome> all;
    for (const LauncherState& launcher : launchers)
        for (const ProcessState& process : launcher.processes)
            if (number == 0 || process.report.number == number) all.push_back({&launcher, &process});
    std::sort(all.begin(), all.end(), [](const Outcome& a, const Outcome& b) {
        return std::tuple(a.report().number, a.report().rank, a.launcher->host, a.report().pid) <
               std::tuple(b.report().number, b.report().rank, b.launcher->host, b.report().pid);
    });
    return all;
}

const char* state_of(const Outcome& outcome) {
    WindowState state = outcome.report().state;
    bool done = state == WindowState::done, alone = !outcome.launcher->alive();
    if (outcome.captured()) return done ? "recorded" : "died, recorded until then";
    if (done) return alone ? "no capture" : "being written";
    if (outcome.process->ended || alone) return "died";
    return control::kStateNames[static_cast<std::size_t>(state)];
}

bool is_settled(const Outcome& outcome) {
    return outcome.captured() || outcome.report().state == WindowState::late || !outcome.launcher->alive();
}

std::string line_of(const Outcome& outcome, const std::string& folder) {
    const control::Report& report = outcome.report();
    std::string line = report.rank ? fmt::format("rank {}, ", *report.rank) : "";
    line += fmt::format("{} process {}: {}", outcome.launcher->host, report.pid, state_of(outcome));
    if (report.opened != 0)
        line += fmt::format(", opened {} after the instant",
                            readable_duration(std::max<DurNs>(report.opened - report.open, 0)));
    if (report.closed != 0) line += fmt::format(", {} long", readable_duration(report.closed - report.opened));
    if (report.last_step != 0) line += fmt::format(", steps {}-{}", report.first_step, report.last_step);
    if (outcome.captured()) line += fmt::format(", {}", shell_quoted_file(folder + "/" + outcome.process->capture));
    return line;
}

// The steps that every rank has whole; absent if there are none, or if a rank counted none.
std::optional<std::pair<std::int64_t, std::int64_t>> common_steps(const std::vector<Outcome>& all) {
    std::int64_t first = 1, last = INT64_MAX;
    for (const Outcome& outcome : all) {
        if (outcome.report().opened == 0) continue;
        first = std::max(first, outcome.report().first_step);
        last = std::min(last, outcome.report().last_step);
    }
    if (last < first || last == INT64_MAX) return std::nullopt;
    return std::pair(first, last);
}

void write_outcome(JsonWriter& json, const Outcome& outcome, const std::string& folder) {
    const control::Report& report = outcome.report();
    auto known = [&](const char* key, bool is_known, std::int64_t value) {
        json.key(key);
        is_known ? json.integer(value) : json.null();
    };
    json.begin_object();
    json.member("host", outcome.launcher->host);
    json.member("pid", report.pid);
    known("rank", report.rank.has_value(), report.rank.value_or(0));
    known("trigger", report.number != 0, report.number);
    json.member("state", state_of(outcome));
    known("opened_ns", report.opened != 0, report.opened);
    known("closed_ns", report.closed != 0, report.closed);
    known("late_ns", report.opened != 0, report.opened - report.open);
    known("first_step", report.last_step != 0, report.first_step);
    known("last_step", report.last_step != 0, report.last_step);
    json.member("control_files_refused", report.refused + outcome.launcher->refused);
    json.key("clock_synchronised");
    json.boolean(outcome.launcher->synchronised);
    json.key("file");
    outcome.captured() ? json.text(folder + "/" + outcome.process->capture) : json.null();
    json.end_object();
}

Status print_json(const TriggerArguments& arguments, const control::Request* request, const std::vector<Outcome>& all) {
    StringSink sink;
    JsonWriter json(sink, 2);
    json.begin_object();
    if (request != nullptr) {
        json.member("trigger", request->number);
        json.member("folder", arguments.folder + "/" + launch::trigger_folder(request->number));
        json.member("open_ns", request->open);
        json.member("close_ns", request->close);
        json.member("steps", request->steps);
    }
    json.key("processes");
    json.begin_array();
    for (const Outcome& outcome : all) write_outcome(json, outcome, arguments.folder);
    json.end_array();
    json.end_object();
    return print(sink.text() + "\n");
}

// With the steps that all captures have, if they are of one trigger.
Status print_lines(const TriggerArguments& arguments, const std::vector<Outcome>& all, bool one_trigger) {
    std::string text;
    for (const Outcome& outcome : all) {
        if (!one_trigger && outcome.report().number != 0) text += fmt::format("trigger {}: ", outcome.report().number);
        text += line_of(outcome, arguments.folder) + "\n";
    }
    if (std::optional steps = common_steps(all); steps && one_trigger && all.size() > 1)
        text += fmt::format("steps {}-{} are whole in all {} captures\n", steps->first, steps->second, all.size());
    return print(text);
}

std::string line_of(const LauncherState& launcher) {
    auto processes = std::count_if(launcher.processes.begin(), launcher.processes.end(),
                                   [](const ProcessState& each) { return each.report.number == 0 && !each.ended; });
    std::string line = fmt::format("{} recorder {}: {}", launcher.host, launcher.pid,
                                   launcher.alive() ? "in standby"
                                   : launcher.ended ? "ended"
                                                    : "gone");
    if (launcher.alive() && processes > 0) line += fmt::format(", {} process{}", processes, processes == 1 ? "" : "es");
    if (!launcher.synchronised) line += ", clock not synchronised";
    if (launcher.refused > 0)
        line += fmt::format(", {} control file{} refused", launcher.refused, launcher.refused == 1 ? "" : "s");
    return line + "\n";
}

Result<ExitCode> show_status(const TriggerArguments& arguments) {
    std::vector<LauncherState> launchers = launch::read_launchers(arguments.folder);
    if (launchers.empty())
        return Error{ExitCode::empty,
                     fmt::format("no recording has been in standby in {}", shell_quoted_file(arguments.folder))};
    std::vector<Outcome> all = outcomes(launchers, 0);
    if (arguments.format == "json") {
        if (Status printed = print_json(arguments, nullptr, all); !printed) return printed.error();
        return ExitCode::ok;
    }
    std::string lead;
    for (const LauncherState& launcher : launchers) lead += line_of(launcher);
    if (Status printed = print(lead); !printed) return printed.error();
    if (Status printed = print_lines(arguments, all, false); !printed) return printed.error();
    return ExitCode::ok;
}

Result<ExitCode> wait_for_captures(const TriggerArguments& arguments, const control::Request& request) {
    TimeNs until = realtime_ns() + static_cast<DurNs>(arguments.wait * 1e9);
    std::vector<LauncherState> launchers;
    std::vector<Outcome> all;
    while (true) {
        launchers = launch::read_launchers(arguments.folder);
        all = outcomes(launchers, request.number);
        bool complete = realtime_ns() > std::max(request.open, request.id) + kSecondNs && !all.empty() &&
                        std::all_of(all.begin(), all.end(), is_settled);
        if (complete || realtime_ns() >= until) break;
        std::this_thread::sleep_for(kTriggerLook);
    }
    Status printed =
        arguments.format == "json" ? print_json(arguments, &request, all) : print_lines(arguments, all, true);
    if (!printed) return printed.error();
    if (all.empty()) note("no process answered; gpu-profile trigger --status shows who is in standby");
    bool whole =
        !all.empty() && std::all_of(all.begin(), all.end(), [](const Outcome& each) { return each.captured(); });
    return whole ? ExitCode::ok : ExitCode::empty;
}

Result<ExitCode> run_trigger(const TriggerArguments& arguments) {
    if (arguments.status) return show_status(arguments);
    Result<TimeNs> open = time_to_start(arguments.at);
    if (!open.ok()) return open.error();
    launch::TriggerWish wish{.open = *open,
                             .seconds_ns = static_cast<DurNs>(std::llround(arguments.seconds * 1e9)),
                             .steps = arguments.steps,
                             .last_ns = static_cast<DurNs>(std::llround(arguments.last * 1e9)),
                             .ranks = arguments.ranks};
    Result<control::Request> request =
        arguments.stop ? launch::request_stop(arguments.folder) : launch::request_trigger(arguments.folder, wish);
    if (!request.ok()) return request.error();
    if (arguments.wait > 0) return wait_for_captures(arguments, *request);
    Status printed;
    std::string folder = arguments.folder + "/" + launch::trigger_folder(request->number);
    if (arguments.format == "json")
        printed = print_json(arguments, &*request, {});
    else if (arguments.last > 0)
        printed = print(fmt::format("trigger {}: the {} until {}; captures: {}\n", request->number,
                                    readable_duration(request->close - request->open), clock_text(request->close),
                                    shell_quoted_file(folder)));
    else if (arguments.stop)
        printed = print(fmt::format("trigger {} ends\n", request->number));
    else
        printed = print(fmt::format(
            "trigger {}: recording starts at {} and lasts {}{}; captures: {}\n", request->number,
            clock_text(request->open),
            arguments.steps > 0
                ? fmt::format("{}, at most ", readable_count(static_cast<std::size_t>(arguments.steps), "step"))
                : "",
            readable_duration(request->close - request->open), shell_quoted_file(folder)));
    if (!printed) return printed.error();
    return ExitCode::ok;
}

std::function<Result<ExitCode>()> declare_trigger(CommandLine& line) {
    auto arguments = std::make_shared<TriggerArguments>();
    line.option("DIR", arguments->folder, "Folder of record --standby -o DIR.").required();
    line.option("--seconds", arguments->seconds,
                "Length of the recording in seconds, 0.001-600 (default: 5; with --steps the limit, 60).")
        .range(0.001, 600)
        .value("T");
    line.option("--last", arguments->last, "Capture the last T seconds, 0.001-600, of a job recorded with --keep-last.")
        .range(0.001, 600)
        .value("T");
    line.option("--steps", arguments->steps, "Record N whole steps that all ranks have in common.")
        .integer_range(1, control::kMaxSteps)
        .value("N");
    line.option("--at", arguments->at,
                "When all ranks start: +30s from now, /10s for the next full 10 s of the clock, or a time such as "
                "2026-11-29T20:03:11Z (default: +2s, on a network file system +10s).")
        .value("TIME");
    line.option("--ranks", arguments->ranks, "Ranks to record, such as 0,8-15 (default: all).").value("LIST");
    line.option("--wait", arguments->wait, "Wait up to S seconds for the captures and print a line for each process.")
        .range(0, 1e6)
        .value("S");
    line.flag("--stop", arguments->stop, "End the recording in progress.");
    line.flag("--status", arguments->status, "Show who is in standby, and what the last triggers recorded.");
    line.option("--format", arguments->format, "Output format: text or json (default: text).")
        .one_of({"text", "json"})
        .value("FORMAT");
    return [arguments] {
        while (arguments->folder.size() > 1 && arguments->folder.ends_with('/')) arguments->folder.pop_back();
        return run_trigger(*arguments);
    };
}

}  // namespace

extern const Command kTriggerCommand;
const Command kTriggerCommand{"trigger", "Record a program", "DIR [--seconds T | --steps N | --last T] [--at TIME]",
                              "Record a part of a job that runs under record --standby.", declare_trigger};

}  // namespace gpuprof::cli
