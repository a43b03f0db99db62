#include "present/report/first_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/text/readable.h"
#include "present/report/findings.h"
#include "present/report/paint.h"
#include "present/report/text_lines.h"
#include "present/report/text_table.h"
#include "present/report/value.h"

namespace gpuprof::inline report {
namespace {

constexpr int kLines = 45;  // of the whole screen; findings take what the rest leaves
constexpr std::size_t kMaxDevices = 8;
constexpr std::size_t kMaxCauses = 5;
constexpr double kMinCauseShare = 0.01;  // of the idle time, to get its own line
constexpr std::size_t kMaxKernels = 5;
constexpr std::int64_t kMaxRows = 8;  // of any other table
constexpr std::size_t kMinFindings = 3, kMaxFindings = 5;

class Screen {
public:
    Screen(const Report& report, const Style& style)
        : report_(report), answer_(*report.answer), style_(style), paint_(style.colour) {}

    void write(Sink& sink) {
        trust();
        verdict();
        predictions();
        busy_profiles();
        idle();
        kernels();
        limits();
        others();
        std::vector<std::string> last = next_steps();
        findings(kLines - static_cast<int>(lines_.size() + last.size()));
        lines_.insert(lines_.end(), last.begin(), last.end());
        for (const std::string& line : lines_) sink.write(line + "\n");
    }

private:
    void add(std::string line = {}) { lines_.push_back(std::move(line)); }
    void paragraph(std::string_view text, int indent) {
        for (const std::string& line : wrap(printable(text), style_.width - indent))
            add(std::string(static_cast<std::size_t>(indent), ' ') + line);
    }
    std::string file() const { return printable(report_.origin.file); }
    std::string_view dot() const { return style_.unicode ? " · " : " - "; }
    std::string share(double percent) const { return readable_percent(percent) + " %"; }

    // The file and the quiet statements run together, each warning starts on a new line.
    void trust() {
        for (const std::string& line : damage_lines(report_, style_)) add(line);
        std::string quiet = report_.origin.file + ": ";
        std::size_t name = quiet.size();
        for (const Trust::Statement& statement : report_.trust.statements)
            if (!statement.warning) quiet += fmt::format("{}{}", quiet.size() == name ? "" : "; ", statement.text);
        for (const std::string& line : wrap(printable(quiet), style_.width)) add(paint_.dim(line));
        for (const Trust::Statement& statement : report_.trust.statements) {
            if (!statement.warning || statement.damage) continue;
            std::vector<std::string> lines = wrap(printable(statement.text), style_.width - 2);
            for (std::size_t i = 0; i < lines.size(); ++i) add((i == 0 ? paint_.warning("!") + " " : "  ") + lines[i]);
        }
        add();
    }

    void verdict() {
        const Verdict& verdict = answer_.verdict;
        std::string head = paint_.bold(verdict.name);
        if (verdict.share_pct) head += fmt::format("   {} of {}", share(*verdict.share_pct), name_of(verdict.share_of));
        if (verdict.share_of == ShareOf::window && verdict.gives_back_pct &&
            *verdict.gives_back_pct != verdict.share_pct)
            head += fmt::format(", {} recoverable", share(*verdict.gives_back_pct));
        if (verdict.confidence && verdict.basis)
            head += fmt::format("   {} confidence, from {}", name_of(*verdict.confidence), name_of(*verdict.basis));
        add(head);
        paragraph(verdict.because, 2);
        std::string others;
        for (const Candidate& candidate : answer_.verdict.alternatives)
            others +=
                fmt::format("{}{} {}", others.empty() ? "also: " : ", ", candidate.name, share(candidate.share_pct));
        if (!others.empty()) paragraph(others, 2);
        add();
    }

    // What to change first, each on top of the one before.
    void predictions() {
        if (answer_.predictions.empty()) return;
        add(paint_.bold("Predicted step") + paint_.dim(dot()) +
            fmt::format("{} without the profiler", readable_duration(answer_.predictions[0].step_before)));
        std::size_t width = 0;
        for (const PredictedGain& each : answer_.predictions) width = std::max(width, each.change.size() + 2);
        for (std::size_t i = 0; i < answer_.predictions.size(); ++i) {
            const PredictedGain& each = answer_.predictions[i];
            std::string line = fmt::format(
                "  {:<{}}  {:>9} {:>23}  {:>8}  {}", (i == 0 ? "" : "+ ") + each.change, width,
                readable_duration(each.step),
                fmt::format("({} to {})", readable_duration(each.step_low), readable_duration(each.step_high)),
                fmt::format("-{} %", readable_percent(each.gain_pct)), each.certainty);
            std::string assumes = ": if " + each.assumes;
            bool fits = display_width(line) + display_width(assumes) <= style_.width;
            add(line + (fits ? paint_.dim(assumes) : ""));
        }
        add();
    }

    // One line of bars per device between two rules, and the time axis under the last.
    void busy_profiles() {
        std::size_t shown = std::min(answer_.busy_profiles.size(), kMaxDevices);
        if (shown == 0) return;
        const int left = 8, right = 14;
        int width = std::max(style_.width - left - right, 10);
        std::string_view rule = style_.unicode ? "│" : "|";
        for (std::size_t i = 0; i < shown; ++i) {
            const BusyProfile& profile = answer_.busy_profiles[i];
            std::string bars = paint_.busy(busy_bars(profile.busy, width, style_.unicode));
            add(fmt::format("{:<7}{}{}{} {}", fmt::format("GPU {}", profile.device), rule, bars, rule,
                            busy_share(profile.device)));
        }
        std::string end = readable_duration(report_.window.length());
        add(paint_.dim(fmt::format("{}0{}", std::string(8, ' '), pad_left(end, width - 1))));
        if (shown < answer_.busy_profiles.size())
            add(paint_.dim(fmt::format("{} more GPUs: gpu-profile report {} devices",
                                       answer_.busy_profiles.size() - shown, file())));
        add();
    }

    std::string busy_share(std::int32_t device) const {
        const ResultTable* devices = table_named(answer_, "devices");
        if (devices == nullptr) return {};
        std::size_t number = devices->column("device"), busy = devices->column("busy_pct");
        for (std::size_t row = 0; row < devices->rows(); ++row) {
            Cell cell = devices->cell(row, number);
            const auto* found = std::get_if<std::int64_t>(&cell);
            if (found == nullptr || *found != device) continue;
            return pad_left(format_cell(devices->cell(row, busy), devices->columns()[busy], style_.unicode) + " % busy",
                            12);
        }
        return {};
    }

    // Idle time of all devices by cause, with bars.
    void idle() {
        const ResultTable* idle = table_named(answer_, "idle");
        if (idle == nullptr || idle->rows() == 0) return;
        std::map<std::string, std::int64_t> totals;
        std::int64_t all = 0;
        for (std::size_t row = 0; row < idle->rows(); ++row) {
            Cell cause = idle->cell(row, idle->column("cause")), total = idle->cell(row, idle->column("total_ns"));
            if (!std::holds_alternative<std::string_view>(cause) || !std::holds_alternative<std::int64_t>(total))
                continue;
            totals[std::string(std::get<std::string_view>(cause))] += std::get<std::int64_t>(total);
            all += std::get<std::int64_t>(total);
        }
        if (all == 0) return;
        std::vector<std::pair<std::string, std::int64_t>> causes(totals.begin(), totals.end());
        std::stable_sort(causes.begin(), causes.end(),
                         [](const auto& a, const auto& b) { return a.second > b.second; });
        causes.erase(std::find_if(causes.begin(), causes.end(), [](const auto& cause) { return cause.second == 0; }),
                     causes.end());
        add(paint_.bold("Idle time by cause") + paint_.dim(dot()) + readable_duration(all));
        auto small = std::find_if(causes.begin(), causes.end(), [all](const auto& cause) {
            return static_cast<double>(cause.second) < kMinCauseShare * static_cast<double>(all);
        });
        std::size_t shown = std::min<std::size_t>(static_cast<std::size_t>(small - causes.begin()), kMaxCauses);
        if (shown + 1 == causes.size()) ++shown;  // a line for one other cause is better spent on its name
        std::int64_t rest = all;
        for (std::size_t i = 0; i < shown; ++i) {
            cause_line(causes[i].first, causes[i].second, all);
            rest -= causes[i].second;
        }
        if (shown < causes.size()) cause_line(fmt::format("{} others", causes.size() - shown), rest, all);
        add();
    }

    void cause_line(std::string_view cause, std::int64_t total, std::int64_t all) {
        double part = static_cast<double>(total) / static_cast<double>(all);
        std::string bar = share_bar(part, std::max(style_.width - 44, 8), style_.unicode);
        add(fmt::format("  {:<20}{:>9}  {:>7}  {}", cause, readable_duration(total), share(100 * part),
                        paint_.dim(bar)));
    }

    void kernels() {
        const ResultTable* kernels = table_named(answer_, "kernels");
        if (kernels == nullptr || kernels->rows() == 0) return;
        std::string count = readable_count(static_cast<std::int64_t>(kernels->rows()));
        std::string_view word = kernels->rows() == 1 ? "kernel" : "kernels";
        add(fmt::format("{}{}{} {}", paint_.bold("Top kernels"), paint_.dim(dot()), count, word));
        static constexpr std::string_view kColumns[] = {"share_pct", "total_ns", "count", "mean_ns"};
        std::string head = " ";
        std::vector<std::string> lines(std::min(kernels->rows(), kMaxKernels), " ");
        for (std::string_view name : kColumns) add_column(*kernels, name, head, lines);
        std::string blank(static_cast<std::size_t>(display_width(handle_of(*kernels, lines.size() - 1))), ' ');
        add(paint_.dim(fmt::format("{}  {} name", head, blank)));
        for (std::size_t row = 0; row < lines.size(); ++row) {
            std::string line = fmt::format("{}  {} ", lines[row], handle_of(*kernels, row));
            add(line + shorten_name(figure(*kernels, row, "name"), style_.width - display_width(line), style_.unicode));
        }
        add();
    }

    // What holds each measured kernel back, in a sentence.
    void limits() {
        const ResultTable* limits = table_named(answer_, "limits");
        if (limits == nullptr || limits->rows() == 0) return;
        add(paint_.bold("Kernels with counters") + paint_.dim(dot()) + "share of their time");
        std::size_t shown = std::min(limits->rows(), kMaxKernels);
        for (std::size_t row = 0; row < shown; ++row) {
            std::string line =
                fmt::format("  {:<5} {:>5} %  ", figure(*limits, row, "kernel"), figure(*limits, row, "share_pct"));
            add(line + shorten_name(figure(*limits, row, "name"), style_.width - display_width(line), style_.unicode));
            paragraph(figure(*limits, row, "because"), 8);
        }
        if (shown < limits->rows())
            add(paint_.dim(fmt::format("  {} more: gpu-profile report {} limits", limits->rows() - shown, file())));
        add();
    }

    // Of a recording without a timeline: what it has, with its first rows.
    void others() {
        Style style = style_;
        style.limit = kMaxRows;
        for (const ResultTable& table : answer_.tables) {
            if (table.name() == "devices" || table.name() == "idle" || table.name() == "kernels" ||
                table.name() == "limits")
                continue;
            StringSink sink;
            write_text_table(table, style, sink);
            std::string_view text = sink.text();
            while (!text.empty()) {
                std::size_t end = std::min(text.find('\n'), text.size());
                add(std::string(text.substr(0, end)));
                text.remove_prefix(std::min(end + 1, text.size()));
            }
            add();
        }
    }

    // One right-aligned column of figures, appended to the heading and to each line.
    void add_column(const ResultTable& table, std::string_view name, std::string& head,
                    std::vector<std::string>& lines) const {
        std::size_t column = table.column(name);
        std::string title = column < table.columns().size() ? header_of(table.columns()[column]) : std::string(name);
        int width = display_width(title);
        for (std::size_t row = 0; row < lines.size(); ++row)
            width = std::max(width, display_width(figure(table, row, name)));
        head += "  " + pad_left(title, width);
        for (std::size_t row = 0; row < lines.size(); ++row)
            lines[row] += "  " + pad_left(figure(table, row, name), width);
    }

    std::string figure(const ResultTable& table, std::size_t row, std::string_view name) const {
        std::size_t column = table.column(name);
        if (column == table.columns().size()) return style_.unicode ? "–" : "-";
        return format_cell(table.cell(row, column), table.columns()[column], style_.unicode);
    }

    // As many as fit into `room` lines, at least three when there are three.
    void findings(int room) {
        const std::vector<Finding>& findings = answer_.findings;
        if (findings.empty()) return;
        add(paint_.bold("Findings"));
        room -= 3;  // the heading, the line that counts the rest, the blank line
        std::size_t shown = 0;
        for (; shown < std::min(findings.size(), kMaxFindings); ++shown) {
            std::vector<std::string> lines = finding_in_brief(findings[shown], shown == 0 ? 2 : 1, style_);
            if (shown >= kMinFindings && room < static_cast<int>(lines.size())) break;
            room -= static_cast<int>(lines.size());
            lines_.insert(lines_.end(), lines.begin(), lines.end());
        }
        if (shown < findings.size())
            add(paint_.dim(fmt::format("  {} more: gpu-profile report {} findings", findings.size() - shown, file())));
        add();
    }

    std::vector<std::string> next_steps() {
        std::vector<std::string> lines;
        for (const std::string& step : answer_.next_steps)
            lines.push_back(fmt::format("{} {}", paint_.dim(lines.empty() ? "next" : "    "), printable(step)));
        return lines;
    }

    const Report& report_;
    const Answer& answer_;
    const Style& style_;
    Paint paint_;
    std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> damage_lines(const Report& report, const Style& style) {
    Paint paint(style.colour);
    std::vector<std::string> shown;
    for (const Trust::Statement& statement : report.trust.statements) {
        if (!statement.damage) continue;
        std::string mark = paint.warning("!") + " ";
        for (const std::string& line : wrap(printable(statement.text), style.width - 2))
            shown.push_back(std::exchange(mark, "  ") + line);
    }
    return shown;
}

void write_first_answer(const Report& report, const Style& style, Sink& sink) { Screen(report, style).write(sink); }

const ResultTable* table_named(const Answer& answer, std::string_view name) {
    auto found = std::find_if(answer.tables.begin(), answer.tables.end(),
                              [name](const ResultTable& table) { return table.name() == name; });
    return found == answer.tables.end() ? nullptr : &*found;
}

}  // namespace gpuprof::report
