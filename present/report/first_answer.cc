#include "present/report/first_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/text/readable.h"
#include "core/schema/meta_keys.h"
#include "present/report/findings.h"
#include "present/report/paint.h"
#include "present/report/text_lines.h"
#include "present/report/text_table.h"
#include "present/report/value.h"

namespace gpuprof::inline report {
namespace {

// What a section may take on one screen of a terminal, and with --verbose.
struct Room {
    int lines;
    std::size_t warnings, lines_of_warning, lines_of_because, lines_of_remedy, lines_of_origin;
    std::size_t parts, devices, kernels;
    std::int64_t rows;  // of a table of a recording without a timeline
    std::size_t next_steps;
};
constexpr Room kScreen{24, 2, 2, 3, 3, 2, 4, 2, 3, 5, 1};
constexpr Room kNoTimeline{24, 3, 3, 6, 3, 2, 4, 2, 3, 5, 1};  // no bars: more words
constexpr Room kVerbose{1000, 100, 100, 100, 100, 100, 100, 8, 5, 8, 100};
constexpr double kMinCauseShare = 0.01;  // of the idle time, to get its own line

class Screen {
public:
    Screen(const Report& report, const Style& style)
        : report_(report),
          answer_(*report.answer),
          style_(style),
          paint_(style.colour),
          room_(report.verbose                         ? kVerbose
                : report.answer->verdict.parts.empty() ? kNoTimeline
                                                       : kScreen) {}

    void write(Sink& sink) {
        const std::vector<std::string> last = origin();
        left_ = room_.lines - static_cast<int>(last.size());
        warnings();
        verdict();
        first_remedy();
        if (report_.verbose) predictions();
        parts();
        busy_profiles();
        left_ -= static_cast<int>(lines_.size());
        if (report_.verbose) idle();
        if (report_.verbose || !limited_by_host()) kernels();
        limits();
        others();
        findings();
        lines_.insert(lines_.end(), last.begin(), last.end());
        for (const std::string& line : lines_) sink.write(line + "\n");
    }

private:
    void add(std::string line = {}) { lines_.push_back(std::move(line)); }
    // The beginning of a text after a mark of one cell, in at most `most` lines.
    void add_cut(std::string_view mark, std::string_view text, std::size_t most, std::size_t indent = 0) {
        const std::string before(indent, ' ');
        int width = style_.width - 2 - static_cast<int>(indent);
        std::vector<std::string> lines = cut_lines(printable(text), width, most, style_.unicode);
        for (std::size_t i = 0; i < lines.size(); ++i)
            add(fmt::format("{}{} {}", before, i == 0 ? mark : std::string_view(" "), lines[i]));
    }
    // Whether `more` lines and a blank one before them fit, besides `kept` for what follows.
    bool take(std::size_t more, int kept = 0) {
        if (left_ < static_cast<int>(more) + 1 + kept) return false;
        left_ -= static_cast<int>(more) + 1;
        return true;
    }
    std::string file() const { return printable(report_.origin.file); }
    std::string_view dot() const { return style_.unicode ? " · " : " - "; }
    std::string_view arrow() const { return style_.unicode ? "→" : ">"; }
    std::string share(double percent) const { return readable_percent(percent) + " %"; }
    bool limited_by_host() const {
        switch (answer_.verdict.limit) {
            case Limit::input:
            case Limit::launch:
            case Limit::synchronisation:
            case Limit::transfer:
            case Limit::allocation:
            case Limit::host:
            case Limit::paced:
            case Limit::no_load: return true;
            default: return false;
        }
    }

    // Only what makes the answer doubtful comes before it.
    void warnings() {
        std::vector<std::string_view> all;
        std::size_t damages = 0;
        for (bool damage : {true, false})
            for (const Trust::Statement& statement : report_.trust.statements)
                if (statement.warning && statement.damage == damage) {
                    all.push_back(statement.text);
                    damages += damage;
                }
        std::size_t shown = std::min(all.size(), std::max(room_.warnings, damages));
        for (std::size_t i = 0; i < shown; ++i) add_cut(paint_.warning("!"), all[i], room_.lines_of_warning);
        if (shown < all.size())
            add(paint_.dim(fmt::format("  {}: --verbose", readable_count(all.size() - shown, "more warning"))));
        doubtful_ = !all.empty();
        if (doubtful_) add();
    }

    // "a step", or "the window": what all shares of the screen are of.
    std::string_view whole() const {
        return answer_.verdict.share_of == ShareOf::critical_path ? "a step" : name_of(ShareOf::window);
    }

    void verdict() {
        const Verdict& verdict = answer_.verdict;
        std::string name = title_of(verdict);
        std::string head = paint_.bold(name);
        int width = display_width(name);
        auto append = [&](const std::string& text) {
            bool fits = width + 3 + display_width(text) <= style_.width;
            if (!fits) add(std::exchange(head, " "));
            head += fmt::format("{}{}", fits ? "   " : " ", text);
            width = (fits ? width + 3 : 2) + display_width(text);
        };
        if (verdict.share_pct) append(fmt::format("{} of {}", share(*verdict.share_pct), whole()));
        if (verdict.confidence && verdict.basis)
            append(fmt::format("{} confidence, from {}", name_of(*verdict.confidence), name_of(*verdict.basis)));
        add(head);
        add_cut(" ", verdict.because, room_.lines_of_because);
    }

    // Whether the first finding says what to do about the verdict.
    bool leads() const { return !answer_.findings.empty() && answer_.verdict.limit != Limit::unknown; }

    // What to do first, and why: what it would give, or what it is about.
    void first_remedy() {
        if (!leads()) return;
        const Finding& first = answer_.findings.front();
        add_cut(paint_.bold(arrow()), first.remedy, room_.lines_of_remedy - (room_.lines_of_remedy > 2 && doubtful_));
        std::string why = first.title;
        if (const auto& predicted = first.predicted)
            why += fmt::format(": {} instead of {} ({} to {})", readable_duration(predicted->step),
                               readable_duration(predicted->step_before), readable_duration(predicted->step_low),
                               readable_duration(predicted->step_high));
        else if (!first.evidence.empty())
            why += ": " + first.evidence.front();
        add_cut(" ", why, 2);
    }

    // Where the whole went. The only shares of the screen, besides those of the same whole.
    void parts() {
        const Verdict& verdict = answer_.verdict;
        if (verdict.parts.empty()) return;
        bool step = verdict.share_of == ShareOf::critical_path;
        std::string head = fmt::format("{} of {}", step ? "A step" : "The window", readable_duration(verdict.whole));
        std::string recorder;
        if (verdict.recorder > 0)
            recorder = fmt::format("{}{} {} of recording", dot(), step ? "without" : "with up to",
                                   readable_duration(verdict.recorder));
        add();
        add(paint_.bold(head) + paint_.dim(rest_of_line(recorder, head)));
        std::size_t shown = std::min(verdict.parts.size(), room_.parts);
        if (shown + 1 == verdict.parts.size()) ++shown;  // a line for one other part is better spent on its name
        VerdictPart rest;
        for (std::size_t i = 0; i < verdict.parts.size(); ++i) {
            const VerdictPart& part = verdict.parts[i];
            if (i < shown)
                share_line(spoken_of(part.limit), part.time, part.share_pct);
            else
                rest.time += part.time, rest.share_pct += part.share_pct;
        }
        if (shown < verdict.parts.size())
            share_line(fmt::format("{} others", verdict.parts.size() - shown), rest.time, rest.share_pct);
    }

    void share_line(std::string_view name, DurNs time, double percent) {
        int room = style_.width - 21;  // for the name, and for a bar on a wide screen
        std::string bar = room < 40 ? "" : share_bar(percent / 100, room - 29, style_.unicode);
        std::string text = pad_right(cut_end(std::string(name), room), std::min(room, 25));
        add(fmt::format("  {}{:>9}  {:>7}{}", text, readable_duration(time), share(percent),
                        bar.empty() ? "" : "  " + paint_.dim(bar)));
    }

    // What to change first, each on top of the one before.
    void predictions() {
        if (answer_.predictions.empty()) return;
        add();
        add(paint_.bold("Plan") + paint_.dim(dot()) + "each on top of the one before");
        std::size_t width = 0;
        for (const PredictedGain& each : answer_.predictions) width = std::max(width, each.change.size() + 2);
        for (std::size_t i = 0; i < answer_.predictions.size(); ++i) {
            const PredictedGain& each = answer_.predictions[i];
            std::string line = fmt::format(
                "  {:<{}}  {:>9} {:>23}  {:>8}", (i == 0 ? "" : "+ ") + each.change, width,
                readable_duration(each.step),
                fmt::format("({} to {})", readable_duration(each.step_low), readable_duration(each.step_high)),
                fmt::format("-{} %", readable_percent(each.gain_pct)));
            std::string assumes = each.assumes.empty() ? "" : "  if " + each.assumes;
            bool fits = display_width(line) + display_width(assumes) <= style_.width;
            add(line + (fits ? paint_.dim(assumes) : ""));
        }
    }

    // One line of bars per device between two rules, and under it what the device did, and the length of the window.
    void busy_profiles() {
        std::size_t shown = std::min(answer_.busy_profiles.size(), room_.devices);
        const int fit = (left_ - static_cast<int>(lines_.size()) - 1) / 2;
        shown = std::min(shown, static_cast<std::size_t>(std::max(fit, 0)));
        if (shown == 0) return;
        const int left = 7;
        int width = std::max(style_.width - left - 2, 10);
        std::string_view rule = style_.unicode ? "│" : "|";
        for (std::size_t i = 0; i < shown; ++i) {
            const BusyProfile& profile = answer_.busy_profiles[i];
            std::string bars = paint_.busy(busy_bars(profile.busy, width, style_.unicode));
            add(fmt::format("{:<7}{}{}{}",
                            profile.device < 0 ? std::string("GPU") : fmt::format("GPU {}", profile.device), rule, bars,
                            rule));
            std::string end = readable_duration(report_.window.length());
            std::string did = rest_of_line(what_it_did(profile.device), "GPU 0  |");
            int gap = width - display_width(did) - display_width(end);
            std::string line = std::string(8, ' ') + did;
            if (gap > 0) line += std::string(static_cast<std::size_t>(gap), ' ') + end;
            add(paint_.dim(line));
        }
        if (shown < answer_.busy_profiles.size())
            add(paint_.dim(rest_of_line(fmt::format("{} more GPUs: gpu-profile report {} devices",
                                                    answer_.busy_profiles.size() - shown, file()),
                                        "")));
    }

    // Times that add up to the window.
    std::string what_it_did(std::int32_t device) const {
        const ResultTable* devices = table_named(answer_, "devices");
        for (std::size_t row = 0; devices != nullptr && row < devices->rows(); ++row) {
            if (integer_of(*devices, row, "device") != device) continue;
            DurNs kernels = integer_of(*devices, row, "kernel_busy_ns"), busy = integer_of(*devices, row, "busy_ns");
            std::string text = fmt::format("kernels {}", readable_duration(kernels));
            if (busy > kernels) text += fmt::format(", only copies {}", readable_duration(busy - kernels));
            return text + fmt::format(", idle {}", readable_duration(integer_of(*devices, row, "idle_ns")));
        }
        return {};
    }

    static std::int64_t integer_of(const ResultTable& table, std::size_t row, std::string_view column) {
        if (table.column(column) == table.columns().size()) return 0;
        Cell cell = table.cell(row, table.column(column));
        const auto* found = std::get_if<std::int64_t>(&cell);
        return found == nullptr ? 0 : *found;
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
        add();
        add(paint_.bold("Idle time by cause") + paint_.dim(dot()) + readable_duration(all));
        auto small = std::find_if(causes.begin(), causes.end(), [all](const auto& cause) {
            return static_cast<double>(cause.second) < kMinCauseShare * static_cast<double>(all);
        });
        std::size_t shown = std::min<std::size_t>(static_cast<std::size_t>(small - causes.begin()), room_.parts);
        if (shown + 1 == causes.size()) ++shown;  // a line for one other cause is better spent on its name
        std::int64_t rest = all;
        for (std::size_t i = 0; i < shown; ++i) {
            cause_line(causes[i].first, causes[i].second, all);
            rest -= causes[i].second;
        }
        if (shown < causes.size()) cause_line(fmt::format("{} others", causes.size() - shown), rest, all);
    }

    // A time alone: shares are of something else here.
    void cause_line(std::string_view cause, std::int64_t total, std::int64_t all) {
        double part = static_cast<double>(total) / static_cast<double>(all);
        std::string bar = share_bar(part, std::max(style_.width - 50, 8), style_.unicode);
        add(fmt::format("  {:<25}{:>9}           {}", cause, readable_duration(total), paint_.dim(bar)));
    }

    void kernels() {
        const ResultTable* kernels = table_named(answer_, "kernels");
        if (kernels == nullptr || kernels->rows() == 0) return;
        std::size_t shown = std::min(kernels->rows(), room_.kernels);
        const int kept = answer_.findings.size() > 1 ? 3 : 0;  // for the next finding
        while (shown > 0 && !take(1 + shown, kept)) --shown;
        if (shown == 0) return;
        static constexpr std::string_view kColumns[] = {"total_ns", "count", "mean_ns"};
        std::string head = " ";
        std::vector<std::string> lines(shown, " ");
        for (std::string_view name : kColumns) add_column(*kernels, name, head, lines);
        add();
        add(fmt::format(
            "{}  {}{}", head, paint_.bold("Top kernels"),
            paint_.dim(fmt::format("{}{} in all", dot(), readable_count(static_cast<std::int64_t>(kernels->rows()))))));
        for (std::size_t row = 0; row < lines.size(); ++row) {
            std::string line = fmt::format("{}  {} ", lines[row], handle_of(*kernels, row));
            add(line + shorten_name(figure(*kernels, row, "name"), style_.width - display_width(line), style_.unicode));
        }
    }

    // What holds each measured kernel back, in a sentence.
    void limits() {
        const ResultTable* limits = table_named(answer_, "limits");
        if (limits == nullptr || limits->rows() == 0) return;
        std::size_t shown = std::min(limits->rows(), room_.kernels);
        add();
        std::string all = fmt::format("{}{} in all", dot(), readable_count(static_cast<std::int64_t>(limits->rows())));
        if (shown < limits->rows()) all += fmt::format(": gpu-profile report {} limits", file());
        constexpr std::string_view kTitle = "Kernels with counters";
        add(paint_.bold(kTitle) + paint_.dim(rest_of_line(all, kTitle)));
        std::size_t before = lines_.size() - 2;
        for (std::size_t row = 0; row < shown; ++row) {
            std::string line =
                fmt::format("  {:<5} {:>9}  ", figure(*limits, row, "kernel"), figure(*limits, row, "total_ns"));
            add(line + shorten_name(figure(*limits, row, "name"), style_.width - display_width(line), style_.unicode));
            add_cut(" ", figure(*limits, row, "because"), room_.lines_of_warning, 6);
        }
        left_ -= static_cast<int>(lines_.size() - before);
    }

    static std::vector<std::string> lines_of(const ResultTable& table, const Style& style) {
        StringSink sink;
        write_text_table(table, style, sink);
        std::vector<std::string> lines;
        for (std::string_view text = sink.text(); !text.empty();) {
            std::size_t end = std::min(text.find('\n'), text.size());
            lines.emplace_back(text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        return lines;
    }

    // Of a recording without a timeline: the tables of what it has, as many rows as fit.
    void others() {
        Style style = style_;
        for (const ResultTable& table : answer_.tables) {
            if (table.name() == "devices" || table.name() == "idle" || table.name() == "kernels" ||
                table.name() == "limits")
                continue;
            std::vector<std::string> lines;
            for (style.limit = room_.rows; style.limit > 0; --style.limit) {
                lines = lines_of(table, style);
                if (take(lines.size())) break;
            }
            if (style.limit == 0) continue;
            add();
            lines_.insert(lines_.end(), lines.begin(), lines.end());
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

    // Those whose remedy is not above, as many as fit; all of them, in full, with --verbose.
    void findings() {
        const std::vector<Finding>& findings = answer_.findings;
        std::size_t first = leads() && !report_.verbose ? 1 : 0;
        if (findings.size() <= first || !take(2)) return;
        add();
        std::size_t heading = lines_.size(), shown = first;
        add();
        for (; shown < findings.size(); ++shown) {
            std::vector<std::string> found = report_.verbose
                                                 ? finding_in_brief(findings[shown], room_.lines_of_remedy, style_)
                                                 : finding_in_lines(findings[shown], style_);
            int room = shown == first ? left_ + 1 : left_;
            if (room < static_cast<int>(found.size())) found.resize(static_cast<std::size_t>(std::max(room, 0)));
            if (found.empty()) break;
            left_ = room - static_cast<int>(found.size());
            lines_.insert(lines_.end(), found.begin(), found.end());
        }
        std::string_view title = report_.verbose ? "Findings" : "Also found";
        std::string more;
        if (shown < findings.size())
            more = fmt::format("{}{} more: gpu-profile report {} findings", dot(), findings.size() - shown, file());
        lines_[heading] = paint_.bold(title) + paint_.dim(rest_of_line(more, title));
    }

    // As much of a text as fits behind a title.
    std::string rest_of_line(const std::string& text, std::string_view title) const {
        std::vector<std::string> lines = cut_lines(text, style_.width - display_width(title), 1, style_.unicode);
        return lines.empty() ? "" : lines.front();
    }

    // What was recorded and what was not, and what to run next.
    std::vector<std::string> origin() {
        std::string text = report_.origin.file + ": ";
        std::size_t name = text.size();
        for (const Trust::Statement& statement : report_.trust.statements)
            if (!statement.warning) text += fmt::format("{}{}", text.size() == name ? "" : "; ", statement.text);
        bool untried = report_.origin.tool == meta_key::kRecorderTool && *meta_key::kRecorderUntried != '\0';
        std::vector<std::string> lines{""};
        for (const std::string& line : cut_lines(printable(text), style_.width, room_.lines_of_origin, style_.unicode))
            lines.push_back(paint_.dim(line));
        if (untried)
            for (const std::string& line :
                 cut_lines(fmt::format("{}: gpu-profile help gpu-checks", meta_key::kRecorderUntried), style_.width, 1,
                           style_.unicode))
                lines.push_back(paint_.dim(line));
        for (std::size_t i = 0; i < std::min(answer_.next_steps.size(), room_.next_steps); ++i)
            lines.push_back(
                fmt::format("{} {}", paint_.dim(i == 0 ? "next" : "    "), printable(answer_.next_steps[i])));
        return lines;
    }

    const Report& report_;
    const Answer& answer_;
    const Style& style_;
    Paint paint_;
    const Room& room_;
    bool doubtful_ = false;  // there are warnings
    int left_ = 0;  // lines of the screen that no section has taken; those above the kernels are counted after the last
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
