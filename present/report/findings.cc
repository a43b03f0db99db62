#include "present/report/findings.h"

#include <fmt/format.h>

#include "core/base/text/readable.h"
#include "present/report/paint.h"
#include "present/report/text_lines.h"

namespace gpuprof::inline report {
namespace {

constexpr int kIndent = 4;

// `text` under a heading word with a hanging indent, in at most `most` lines.
void add_wrapped(std::vector<std::string>& lines, std::string_view head, std::string_view text, const Style& style,
                 std::size_t most = SIZE_MAX) {
    int hang = kIndent + (head.empty() ? 0 : display_width(head) + 1);
    std::vector<std::string> wrapped = cut_lines(printable(text), style.width - hang, most, style.unicode);
    Paint paint(style.colour);
    for (std::size_t i = 0; i < wrapped.size(); ++i) {
        std::string indent(static_cast<std::size_t>(i == 0 ? kIndent : hang), ' ');
        lines.push_back(indent + (i == 0 && !head.empty() ? paint.dim(head) + " " : "") + wrapped[i]);
    }
}

std::string_view mark(Rating severity, bool unicode) {
    switch (severity) {
        case Rating::high: return unicode ? "●" : "!";
        case Rating::medium: return unicode ? "◐" : "*";
        default: return unicode ? "○" : "-";
    }
}

// The mark of the severity, the title, and on the right what it costs.
void add_title(std::vector<std::string>& lines, const Finding& finding, const Style& style, bool with_share = false) {
    Paint paint(style.colour);
    std::string cost;
    if (finding.predicted)
        cost = fmt::format("{} per step", readable_duration(finding.predicted->step - finding.predicted->step_before));
    else if (finding.cost_ns > 0)
        cost = fmt::format("{}{}", readable_duration(finding.cost_ns / static_cast<DurNs>(finding.devices)),
                           finding.devices > 1 ? " per GPU" : "");
    if (with_share && !finding.predicted && finding.cost_ns > 0)
        cost += fmt::format(", {} %", readable_percent(finding.share_pct));
    int room = style.width - kIndent - display_width(cost) - 2;
    std::vector<std::string> title = wrap(printable(finding.title), room);
    std::string sign(mark(finding.severity, style.unicode));
    if (finding.severity == Rating::high) sign = paint.warning(sign);
    for (std::size_t i = 0; i < title.size(); ++i) {
        std::string line = (i == 0 ? "  " + sign + " " : std::string(kIndent, ' ')) + paint.bold(title[i]);
        if (i == 0 && !cost.empty())
            line += std::string(static_cast<std::size_t>(room + 2 - display_width(title[i])), ' ') + cost;
        lines.push_back(line);
    }
}

std::string joined_evidence(const Finding& finding) {
    std::string text;
    for (const std::string& fact : finding.evidence) text += fmt::format("{}{}", text.empty() ? "" : "; ", fact);
    return text;
}

}  // namespace

std::vector<std::string> finding_in_brief(const Finding& finding, std::size_t most, const Style& style) {
    std::vector<std::string> lines;
    add_title(lines, finding, style);
    if (!finding.evidence.empty()) add_wrapped(lines, "", joined_evidence(finding), style, most);
    add_wrapped(lines, style.unicode ? "→" : "->", finding.remedy, style, most);
    return lines;
}

std::vector<std::string> finding_in_lines(const Finding& finding, const Style& style) {
    std::vector<std::string> lines;
    add_title(lines, finding, style);
    add_wrapped(lines, style.unicode ? "→" : "->", finding.remedy, style, 1);
    return lines;
}

std::vector<std::string> finding_in_full(const Finding& finding, const Style& style) {
    std::vector<std::string> lines;
    add_title(lines, finding, style, true);
    for (const std::string& fact : finding.evidence) add_wrapped(lines, style.unicode ? "·" : "-", fact, style);
    add_wrapped(lines, style.unicode ? "→" : "->", finding.remedy, style);
    add_wrapped(lines, "would change if", finding.would_change_if, style);
    add_wrapped(lines, "id",
                fmt::format("{}, severity {}, confidence {}, from {}", finding.id, name_of(finding.severity),
                            name_of(finding.confidence), name_of(finding.basis)),
                style);
    return lines;
}

void write_findings(const Answer& answer, const Style& style, Sink& sink) {
    Paint paint(style.colour);
    sink.write(fmt::format("\n{}\n", paint.bold("Findings")));
    if (answer.findings.empty()) sink.write("No findings.\n");
    for (const Finding& finding : answer.findings) {
        for (const std::string& line : finding_in_full(finding, style)) sink.write(line + "\n");
        sink.write("\n");
    }
}

}  // namespace gpuprof::report
