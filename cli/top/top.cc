// `top`: all devices of the machine live. On a terminal it shows a panel with plots; otherwise, or with --once, plain
// tables.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/live/feed.h"
#include "cli/live/live_state.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "cli/top/screen.h"
#include "cli/top/top_layout.h"
#include "core/base/clock.h"
#include "core/base/files/sink.h"
#include "core/base/text/close_match.h"
#include "core/base/text/readable.h"
#include "present/report/report.h"
#include "present/report/text_lines.h"
#include "present/report/text_table.h"

namespace gpuprof::inline cli {
namespace {

// The output of top without a terminal: devices and processes as plain tables.

constexpr ResultColumn kDevices[] = {
    {"gpu", CellType::integer, Unit::none, "Device number."},
    {"name", CellType::text, Unit::none, "Marketing name."},
    {"util_gpu", CellType::real, Unit::percent, "Share of the driver's window in which at least one kernel ran."},
    {"mem_used", CellType::real, Unit::bytes, "Device memory in use."},
    {"mem_total", CellType::real, Unit::bytes, "Total device memory."},
    {"power_w", CellType::real, Unit::none, "Power in W."},
    {"temp_c", CellType::real, Unit::none, "Temperature in degrees Celsius."},
    {"sm_clock_mhz", CellType::real, Unit::none, "SM clock in MHz."},
    {"throttled_by", CellType::text, Unit::none, "Reasons why clocks are throttled."},
    {"gpm_sm_active", CellType::real, Unit::percent, "GPM: SM activity."},
    {"gpm_tensor", CellType::real, Unit::percent, "GPM: tensor pipe activity."},
    {"gpm_dram", CellType::real, Unit::percent, "GPM: share of memory bandwidth."},
    {"util_mem", CellType::real, Unit::percent, "Share of time with memory traffic."}};

constexpr ResultColumn kProcesses[] = {
    {"gpu", CellType::integer, Unit::none, "Device number."},
    {"pid", CellType::integer, Unit::none, "Process id."},
    {"mem_used", CellType::real, Unit::bytes, "Device memory in use by the process."},
    {"util_gpu", CellType::real, Unit::percent,
     "Share of the sampling window in which the process had a kernel running, as reported by the driver."},
    {"process", CellType::text, Unit::none, "Command line of the process."}};

Cell cell(std::optional<double> value, double factor = 1) { return value ? Cell(*value * factor) : kAbsent; }
Cell text(const std::string& value) { return value.empty() ? kAbsent : Cell(std::string_view(value)); }

// `names`: process names by pid.
void write_top_tables(const LiveState& state, TimeNs now, const std::map<std::int64_t, std::string>& names,
                      const ReportFormat& format, const Style& style, Sink& sink) {
    ResultTable devices("devices", kDevices), processes("processes", kProcesses);
    for (const LiveDevice& device : state.devices()) {
        auto value = [&](Metric metric) { return state.value(device, metric, now); };
        std::optional<double> reasons = value(Metric::throttle);
        std::string held = reasons ? throttling_of(*reasons) : "";
        devices.add_row({std::int64_t{device.known.device}, text(device.known.name), cell(value(Metric::util_gpu)),
                         cell(value(Metric::mem_used), kMib), cell(value(Metric::mem_total), kMib),
                         cell(value(Metric::power)), cell(value(Metric::temp)), cell(value(Metric::sm_clock)),
                         text(held), cell(value(Metric::gpm_sm_active)), cell(value(Metric::gpm_tensor)),
                         cell(value(Metric::gpm_dram)), cell(value(Metric::util_mem))});
        if (!device.problem.empty()) devices.notes.push_back(device.problem);
        for (const ProcessReading& process : state.processes(device, now)) {
            auto name = names.find(process.pid);
            processes.add_row({std::int64_t{process.device}, process.pid, cell(process.mem_used_mb, kMib),
                               cell(process.util_gpu), name == names.end() ? kAbsent : text(name->second)});
        }
    }
    if (!state.problem().empty()) devices.notes.push_back(state.problem());
    if (format.name != "text") {
        std::vector<ResultTable> tables;
        tables.push_back(std::move(devices));
        tables.push_back(std::move(processes));
        Report report{.version = program_version(), .origin = {}, .window = {}, .trust = {}, .tables = tables};
        report.origin.tool = state.backend();
        return format.write(report, style, sink);
    }
    write_text_table(devices, style, sink);
    write_notes(devices, style, sink);
    if (processes.rows() > 0) {
        sink.write("\n");
        write_text_table(processes, style, sink);
    }
}

struct TopArguments {
    LiveOptions live;
    bool once = false;
    std::string format = "text";
};

// The command line of a process, else its short name; "" if it cannot be seen.
std::string name_of_process(std::int64_t pid) {
    auto read = [pid](const char* file) {
        std::ostringstream text;
        text << std::ifstream(fmt::format("/proc/{}/{}", pid, file), std::ios::binary).rdbuf();
        return text.str();
    };
    std::string line = read("cmdline");
    if (line.empty()) line = read("comm");
    std::replace(line.begin(), line.end(), '\0', ' ');
    while (!line.empty() && (line.back() == ' ' || line.back() == '\n')) line.pop_back();
    return printable(line);
}

std::map<std::int64_t, std::string> process_names(const LiveState& state, TimeNs now) {
    std::map<std::int64_t, std::string> names;
    for (const LiveDevice& device : state.devices())
        for (const ProcessReading& process : state.processes(device, now))
            if (std::string name = name_of_process(process.pid); !name.empty()) names[process.pid] = name;
    return names;
}

void wait(DurNs length) {
    timespec left{length / 1'000'000'000, length % 1'000'000'000};
    while (nanosleep(&left, &left) != 0) continue;
}

std::string time_of_day(TimeNs time) {
    std::time_t seconds = time / 1'000'000'000;
    std::tm parts{};
    localtime_r(&seconds, &parts);
    char text[16];
    return {text, std::strftime(text, sizeof text, "%H:%M:%S", &parts)};
}

constexpr int kNoEdge = 1000;

Status print_tables(const LiveFeed& feed, const ReportFormat& format, bool last) {
    Result<Output> output = Output::open("-");
    if (!output.ok()) return output.error();
    Style style = style_for("-");
    style.limit = 0;
    if (isatty(STDOUT_FILENO) == 0) style.width = kNoEdge;  // one line per device, however long
    feed.look([&](const LiveState& state) {
        TimeNs now = realtime_ns();
        if (format.name == "text") output->write(time_of_day(now) + "\n");
        write_top_tables(state, now, process_names(state, now), format, style, *output);
        output->write(last ? "" : "\n");
    });
    return output->close();
}

// One table per interval. The first one appears after a full interval, because some values need two readings.
Result<ExitCode> print_along(LiveFeed& feed, const TopArguments& arguments) {
    feed.look([](const LiveState& state) {
        for (const std::string& sentence : state.notes()) note(sentence);
    });
    for (;;) {
        wait(static_cast<DurNs>(arguments.live.interval_s * 1e9));
        bool last = arguments.once || feed.ended();
        if (Status printed = print_tables(feed, *find_report_format(arguments.format), last); !printed)
            return printed.error();
        if (last) return ExitCode::ok;
        if (std::string problem = feed.problem(); !problem.empty()) note(problem);
        feed.restart(monotonic_ns());
    }
}

// Shows the panel until the user ends it; returns the signal that did, or 0.
class Panel {
public:
    Panel(LiveFeed& feed, TopScreen& screen) : feed_(feed), screen_(screen) { view_.unicode = screen.unicode(); }

    int run(double interval_s) {
        int wait_ms = std::clamp(static_cast<int>(interval_s * 1000), 100, 500);
        for (;;) {
            draw();
            int key = screen_.key(wait_ms);
            if (int number = TopScreen::signalled(); number != 0) return number;
            if (key == 'q' || key == 'Q') return 0;
            take(key);
            feed_.restart(monotonic_ns());
        }
    }

private:
    void take(int key) {
        if (key == ' ') {
            view_.paused = !view_.paused;
            held_.reset();
            if (view_.paused) held_ = feed_.look([](const LiveState& state) { return state; });
        } else if (key == 'd') {
            ++view_.selected;
        } else if (key == '?' || key == 'h') {
            view_.help = !view_.help;
        }
    }

    void draw() {
        view_.width = screen_.width();
        view_.height = screen_.height();
        view_.ended = feed_.ended();
        view_.problem = feed_.problem();
        if (!held_) view_.now = realtime_ns();
        auto show = [this](const LiveState& state) {
            if (!held_) view_.names = process_names(state, view_.now);
            return lay_out(state, view_);
        };
        screen_.draw(held_ ? show(*held_) : feed_.look(show));
    }

    LiveFeed& feed_;
    TopScreen& screen_;
    TopView view_;
    std::optional<LiveState> held_;
};

Result<ExitCode> top(const TopArguments& arguments) {
    const ReportFormat* format = find_report_format(arguments.format);
    if (format == nullptr || format->one_table)
        return unknown_choice("format", arguments.format, {"text", "json", "md"});
    if (format->name != "text" && !arguments.once)
        return Error{ExitCode::usage, fmt::format("--format {} needs --once", format->name)};
    if (Status sound = check(arguments.live); !sound) return sound.error();
    LiveFeed feed(arguments.live);
    if (Status sampling = feed.start(); !sampling) return sampling.error();
    bool terminal = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0 && !arguments.once;
    if (!terminal) return print_along(feed, arguments);
    Result<std::unique_ptr<TopScreen>> screen = TopScreen::open(style_for("-").colour);
    if (!screen.ok()) {
        note(screen.error().message + "; printing tables instead of plots");
        return print_along(feed, arguments);
    }
    int number = Panel(feed, **screen).run(arguments.live.interval_s);
    screen->reset();
    feed.stop();
    if (number != 0 && number != SIGINT) raise(number);
    return ExitCode::ok;
}

std::function<Result<ExitCode>()> declare_top(CommandLine& line) {
    auto arguments = std::make_shared<TopArguments>();
    declare_live_options(line, arguments->live);
    line.flag("--once", arguments->once, "Print one table and exit.");
    line.option("--format", arguments->format, "With --once: text, json or md (default: text).")
        .suggest(std::vector{"text", "json", "md"})
        .value("FORMAT");
    return [arguments] { return top(*arguments); };
}

}  // namespace

extern const Command kTopCommand;
const Command kTopCommand{"top", "Monitor GPUs", "[OPTIONS]",
                          "Show all GPUs of this machine live, with plots over time.", declare_top};

}  // namespace gpuprof::cli
