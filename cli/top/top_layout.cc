#include "cli/top/top_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/text/readable.h"
#include "core/schema/throttle.h"
#include "present/report/text_lines.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::string_view kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kAscii[] = {" ", ".", ":", "#"};

}  // namespace

std::vector<std::string> plot(std::span<const std::optional<double>> values, double top, int rows, bool unicode) {
    std::span<const std::string_view> blocks = unicode ? std::span<const std::string_view>(kBlocks) : kAscii;
    int steps = static_cast<int>(blocks.size()) - 1;
    std::vector<std::string> lines(static_cast<std::size_t>(std::max(rows, 0)));
    for (const std::optional<double>& value : values) {
        double share = std::clamp(value.value_or(0) / top, 0.0, 1.0);
        int height = static_cast<int>(std::ceil(share * rows * steps - 1e-9));
        for (int row = 0; row < rows; ++row) {
            bool lowest = row == rows - 1;
            int here = std::clamp(height - (rows - 1 - row) * steps, 0, steps);
            std::string& line = lines[static_cast<std::size_t>(row)];
            if (lowest && value && height == 0)
                line += unicode ? "·" : "_";
            else
                line += blocks[static_cast<std::size_t>(here)];
        }
    }
    return lines;
}

namespace {

constexpr int kLabelWidth = 24;          // cells to the left of a plot
constexpr int kMinTwoColumnWidth = 130;  // from this width, plots are placed side by side
constexpr int kMaxPlotHeight = 8;        // rows of one plot

std::string bytes_of(std::optional<double> mib) { return readable_bytes(*mib * kMib); }

// One plot: its label, its current value, and its full height in the metric's unit.
struct PlottedMetric {
    Metric metric;
    std::string name, now, scale;
    double top;
};

class Layout {
public:
    Layout(const LiveState& state, const TopView& view)
        : state_(state), view_(view), dash_(view.unicode ? "–" : "-"), dot_(view.unicode ? " · " : ", ") {}

    std::vector<StyledLine> lines() {
        add_title();
        add_devices();
        add_problems();
        if (view_.help)
            add_help();
        else if (const LiveDevice* device = selected())
            add_plots(*device);
        lines_.resize(std::min(lines_.size(), static_cast<std::size_t>(std::max(view_.height - 1, 0))));
        while (static_cast<int>(lines_.size()) < view_.height - 1) add({});
        add({{Tone::faint, "q quit   space pause   d next device   ? help"}});
        for (StyledLine& line : lines_) fit(line);
        return std::move(lines_);
    }

private:
    void add(StyledLine line) { lines_.push_back(std::move(line)); }
    int room() const { return view_.height - 1 - static_cast<int>(lines_.size()); }
    const LiveDevice* selected() const {
        return state_.devices().empty() ? nullptr : &state_.devices()[view_.selected % state_.devices().size()];
    }
    std::optional<double> value(const LiveDevice& device, Metric metric) const {
        return state_.value(device, metric, view_.now);
    }
    template <class... Values>
    std::string shown(std::optional<double> value, fmt::format_string<double&> format) const {
        return value ? fmt::format(format, *value) : dash_;
    }

    void fit(StyledLine& line) const {
        int left = view_.width;
        for (StyledText& part : line) {
            part.text = cut_end(part.text, std::max(left, 0));
            left -= display_width(part.text);
        }
    }

    void add_title() {
        std::size_t count = state_.devices().size();
        std::string text = fmt::format("{}{} GPU{}{}{}{}every {} s", dot_, count, count == 1 ? "" : "s", dot_,
                                       state_.backend(), dot_, static_cast<double>(state_.interval()) / 1e9);
        StyledLine line{{Tone::strong, "gpu-profile top"}, {Tone::plain, text}};
        if (view_.paused) line.push_back({Tone::warning, dot_ + "paused"});
        if (view_.ended) line.push_back({Tone::warning, dot_ + "the recording has ended"});
        add(std::move(line));
    }

    // Column widths of the device table; a narrow one omits the reference values.
    struct Columns {
        bool narrow;
        int name, util, memory, power, temp, clock;
    };
    Columns columns() const {
        if (view_.width < 112) return {true, 16, 6, 12, 8, 7, 11};
        return {false, 24, 6, 24, 15, 7, 20};
    }

    // The devices around the selected one, up to a third of the screen.
    void add_devices() {
        const std::vector<LiveDevice>& devices = state_.devices();
        Columns as = columns();
        add({{Tone::faint, "  " + pad_right("GPU", 5) + pad_right("name", as.name) + pad_left("util", as.util) +
                               pad_left("memory", as.memory) + pad_left("power", as.power) + pad_left("temp", as.temp) +
                               pad_left("SM clock", as.clock) + "  throttled by"}});
        std::size_t max_shown = std::max<std::size_t>(static_cast<std::size_t>(std::max(view_.height, 0)) / 3, 1);
        std::size_t chosen = devices.empty() ? 0 : view_.selected % devices.size();
        std::size_t first = devices.size() <= max_shown
                                ? 0
                                : std::min(chosen - std::min(chosen, max_shown / 2), devices.size() - max_shown);
        std::size_t end = std::min(devices.size(), first + max_shown);
        for (std::size_t i = first; i < end; ++i) add_device(devices[i], i == chosen && devices.size() > 1);
        if (end - first < devices.size())
            add({{Tone::faint, fmt::format("  {} more; d selects the next", devices.size() - (end - first))}});
    }

    void add_device(const LiveDevice& device, bool chosen) {
        Columns as = columns();
        std::string name = shorten_middle(printable(device.known.name), as.name - 1, view_.unicode);
        StyledLine line{
            {chosen ? Tone::strong : Tone::plain,
             (chosen ? "> " : "  ") + pad_right(std::to_string(device.known.device), 5) + pad_right(name, as.name)}};
        if (state_.alive(device, view_.now))
            add_values(line, device, as);
        else
            line.push_back({Tone::warning, device.lost ? "lost: the driver no longer finds it" : "no recent sample"});
        add(std::move(line));
    }

    void add_values(StyledLine& line, const LiveDevice& device, const Columns& as) const {
        auto compared = [&](std::optional<double> limit, fmt::format_string<double&> format) {
            return limit && !as.narrow ? " of " + fmt::format(format, *limit) : "";
        };
        std::optional<double> used = value(device, Metric::mem_used), total = value(device, Metric::mem_total);
        std::string memory = !used ? dash_ : bytes_of(used) + (total && !as.narrow ? " of " + bytes_of(total) : "");
        std::string power =
            shown(value(device, Metric::power), "{:.0f}") + compared(device.known.power_limit_w, "{:.0f}") + " W";
        std::string clock = shown(value(device, Metric::sm_clock), "{:.0f}") +
                            compared(device.known.sm_clock_max_mhz, "{:.0f}") + " MHz";
        std::optional<double> reasons = value(device, Metric::throttle);
        std::string held = reasons ? throttling_of(*reasons) : dash_;
        line.push_back({Tone::good, pad_left(shown(value(device, Metric::util_gpu), "{:.0f} %"), as.util)});
        line.push_back({Tone::plain, pad_left(memory, as.memory) + pad_left(power, as.power) +
                                         pad_left(shown(value(device, Metric::temp), "{:.0f} C"), as.temp) +
                                         pad_left(clock, as.clock) + "  "});
        line.push_back({held == "no" || !reasons ? Tone::plain : Tone::warning, held});
    }

    void add_sentence(Tone tone, std::string_view sentence) {
        for (const std::string& line : wrap(printable(sentence), std::max(view_.width - 2, 20)))
            add({{tone, "  " + line}});
    }

    void add_problems() {
        for (const std::string& note : state_.notes()) add_sentence(Tone::faint, note);
        if (!view_.problem.empty()) add_sentence(Tone::warning, view_.problem + "; retrying");
        if (!state_.problem().empty()) add_sentence(Tone::warning, state_.problem());
        if (const LiveDevice* device = selected(); device != nullptr && !device->problem.empty())
            add_sentence(Tone::warning, device->problem);
    }

    void add_help() {
        constexpr std::string_view kHelp[] = {
            "",
            "util      share of the driver's window in which at least one kernel ran, however small",
            "memory    device memory in use by all processes and the driver",
            "throttled what keeps the clocks below their maximum: power limit, heat, or hardware slowdown",
            "GPM       hardware activity counters, on Hopper and later",
            "plots     one column per interval, newest on the right; blank: unknown, dot: exactly 0",
            "",
            "q         quit            space  pause the display; sampling continues",
            "d         next device     ?      this help",
            "",
            "To save the samples of a command: gpu-profile --csv FILE -- COMMAND"};
        for (std::string_view line : kHelp) add({{Tone::plain, "  " + std::string(line)}});
    }

    void add_plots(const LiveDevice& device) {
        std::vector<PlottedMetric> subjects = plotted_metrics(device);
        int processes = static_cast<int>(all_processes().size());
        int reserved = processes == 0 ? 0 : std::min(processes, std::max(view_.height / 5, 3)) + 2;
        int columns = view_.width >= kMinTwoColumnWidth ? 2 : 1;
        int rows = (static_cast<int>(subjects.size()) + columns - 1) / columns;
        int height = room() - reserved - 1;
        int fitting = std::min(rows, height / 2);
        if (fitting > 0) {
            add({{Tone::strong, fmt::format("  GPU {}", device.known.device)},
                 {Tone::faint,
                  fmt::format(", the last {}", readable_duration(plot_width(columns) * state_.interval()))}});
            if (static_cast<std::size_t>(fitting * columns) < subjects.size()) {
                lines_.back().push_back(
                    {Tone::faint, fmt::format("; {} of {} plots fit", fitting * columns, subjects.size())});
                subjects.resize(static_cast<std::size_t>(fitting * columns));
            }
            int tall = std::min(height / fitting - 1, kMaxPlotHeight - 1);
            for (std::size_t i = 0; i < subjects.size(); i += static_cast<std::size_t>(columns))
                add_plot_row(device,
                             {subjects.begin() + static_cast<std::ptrdiff_t>(i),
                              subjects.begin() + static_cast<std::ptrdiff_t>(
                                                     std::min(subjects.size(), i + static_cast<std::size_t>(columns)))},
                             columns, std::max(tall, 1));
        }
        add_processes();
    }

    int plot_width(int columns) const {
        int width = view_.width / columns - kLabelWidth - 2;
        return std::clamp(width, 1, static_cast<int>(LiveState::kSlots));
    }

    // Plots side by side, `tall` rows and a blank line below.
    void add_plot_row(const LiveDevice& device, const std::vector<PlottedMetric>& row, int columns, int tall) {
        std::vector<StyledLine> block(static_cast<std::size_t>(tall));
        for (const PlottedMetric& subject : row) {
            auto count = static_cast<std::size_t>(plot_width(columns));
            std::vector<std::string> picture =
                plot(state_.history(device, subject.metric, count, view_.now), subject.top, tall, view_.unicode);
            std::string label[] = {pad_right(subject.name, 14) + pad_left(subject.now, 9), pad_left(subject.scale, 23)};
            for (int i = 0; i < tall; ++i) {
                StyledLine& line = block[static_cast<std::size_t>(i)];
                line.push_back(
                    {i == 0 ? Tone::plain : Tone::faint, "  " + pad_right(i < 2 ? label[i] : "", kLabelWidth)});
                line.push_back({Tone::good, picture[static_cast<std::size_t>(i)]});
            }
        }
        for (StyledLine& line : block) add(std::move(line));
        add({});
    }

    void add_plotted_metric(std::vector<PlottedMetric>& to, const LiveDevice& device, Metric metric,
                            std::string_view name, fmt::format_string<double&> format, double top,
                            std::string scale) const {
        auto count = static_cast<std::size_t>(LiveState::kSlots);
        std::vector<std::optional<double>> past = state_.history(device, metric, count, view_.now);
        if (std::none_of(past.begin(), past.end(), [](const auto& each) { return each.has_value(); })) return;
        std::optional<double> now = value(device, metric);
        if (top <= 0) {
            top = now.value_or(0);  // means of intervals can be below the newest value
            for (const auto& each : past) top = std::max(top, each.value_or(0));
            top = top <= 0 ? 1 : top;
            scale = "up to " + (metric == Metric::mem_used ? bytes_of(top) : fmt::format(format, top));
        }
        auto say = [&](double amount) {
            return metric == Metric::mem_used ? bytes_of(amount) : fmt::format(format, amount);
        };
        to.push_back({metric, std::string(name), now ? say(*now) : dash_, std::move(scale), top});
    }

    // The metrics that this device reports, most requested first.
    std::vector<PlottedMetric> plotted_metrics(const LiveDevice& device) const {
        std::vector<PlottedMetric> subjects;
        std::optional<double> total = value(device, Metric::mem_total);
        add_plotted_metric(subjects, device, Metric::util_gpu, "util.gpu", "{:.0f} %", 100, "of 100 %");
        add_plotted_metric(subjects, device, Metric::gpm_sm_active, "GPM SM active", "{:.0f} %", 100, "of 100 %");
        add_plotted_metric(subjects, device, Metric::mem_used, "memory", "{:.0f} MiB", total.value_or(0),
                           total ? "of " + bytes_of(total) : "");
        add_plotted_metric(subjects, device, Metric::power, "power", "{:.0f} W", device.known.power_limit_w.value_or(0),
                           fmt::format("of {:.0f} W", device.known.power_limit_w.value_or(0)));
        add_plotted_metric(subjects, device, Metric::gpm_tensor, "GPM tensor", "{:.0f} %", 100, "of 100 %");
        add_plotted_metric(subjects, device, Metric::gpm_dram, "GPM DRAM", "{:.0f} %", 100, "of 100 %");
        add_plotted_metric(subjects, device, Metric::sm_clock, "SM clock", "{:.0f} MHz",
                           device.known.sm_clock_max_mhz.value_or(0),
                           fmt::format("of {:.0f} MHz", device.known.sm_clock_max_mhz.value_or(0)));
        add_plotted_metric(subjects, device, Metric::temp, "temperature", "{:.0f} C", 100, "of 100 C");
        add_plotted_metric(subjects, device, Metric::util_mem, "util.mem", "{:.0f} %", 100, "of 100 %");
        return subjects;
    }

    std::vector<ProcessReading> all_processes() const {
        std::vector<ProcessReading> all;
        for (const LiveDevice& device : state_.devices())
            for (const ProcessReading& process : state_.processes(device, view_.now)) all.push_back(process);
        return all;
    }

    void add_processes() {
        std::vector<ProcessReading> processes = all_processes();
        if (processes.empty() || room() < 2) return;
        add({{Tone::faint, fmt::format("  {:<6}{:>9}{:>12}{:>7}  {}", "GPU", "pid", "memory", "util", "process")}});
        auto fitting = static_cast<std::size_t>(room());
        std::size_t shown_count = processes.size() <= fitting ? processes.size() : fitting - 1;
        for (std::size_t i = 0; i < shown_count; ++i) {
            const ProcessReading& process = processes[i];
            auto name = view_.names.find(process.pid);
            add({{Tone::plain, "  " + pad_right(std::to_string(process.device), 6) +
                                   pad_left(std::to_string(process.pid), 9) +
                                   pad_left(process.mem_used_mb ? bytes_of(process.mem_used_mb) : dash_, 12) +
                                   pad_left(shown(process.util_gpu, "{:.0f} %"), 7) + "  " +
                                   (name == view_.names.end() ? dash_ : printable(name->second))}});
        }
        if (shown_count < processes.size())
            add({{Tone::faint, fmt::format("  {} more processes", processes.size() - shown_count)}});
    }

    const LiveState& state_;
    const TopView& view_;
    std::string dash_, dot_;
    std::vector<StyledLine> lines_;
};

}  // namespace

std::vector<StyledLine> lay_out(const LiveState& state, const TopView& view) { return Layout(state, view).lines(); }

std::string throttling_of(double reasons) {
    Throttle throttle = throttle_of(static_cast<std::uint64_t>(reasons));
    std::string text;
    for (auto [holds, name] : {std::pair(throttle.power, "power"), std::pair(throttle.thermal, "heat"),
                               std::pair(throttle.hardware, "hardware")})
        if (holds) text += (text.empty() ? "" : ", ") + std::string(name);
    return text.empty() ? "no" : text;
}

}  // namespace gpuprof::cli
