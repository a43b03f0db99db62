// Reports: the results of analyses, written for people or programs. A Report says what to show, a Style how it may
// look, and a ReportFormat writes it into a Sink; each format works for any ResultTable. Nothing here reads a trace's
// rows, prints, or looks at the environment.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/files/sink.h"
#include "core/model/answer.h"
#include "core/model/result_table.h"
#include "core/model/trace.h"

namespace gpuprof::inline report {

struct Report {
    std::string_view version;  // of the program that writes it
    Origin origin;
    Interval window;               // absolute, on the capture's clock
    TimeNs zero = 0;               // on that clock: what times in rows count from
    DurNs whole = 0;               // length of the recording, if the window is a part of it
    const Origin* base = nullptr;  // of a comparison: what `origin` is compared with
    Interval base_window = {};
    TimeNs base_zero = 0;
    Trust trust;
    const Answer* answer = nullptr;          // its verdict and findings are shown when it is there
    bool first_answer = false;               // text and md open with the first answer
    bool verbose = false;                    // text shows all of the first answer, not one screen
    bool all_findings = false;               // text and md show every finding in full
    std::span<const std::string> lead = {};  // shown first: text and md show it above the tables
    std::span<const ResultTable> tables;     // the requested analyses, in that order
};

struct Style {
    std::int64_t limit = 20;  // rows shown per table; 0 shows all
    int width = 100;          // terminal cells of a line of text
    bool colour = false;      // ANSI colours
    bool unicode = true;      // false: ASCII in place of bars, dashes and ellipses (names stay as they are)
};

struct ReportFormat {
    std::string_view name;
    std::string_view doc;
    bool one_table;  // it holds exactly one table and nothing else
    void (*write)(const Report&, const Style&, Sink&);
};

std::span<const ReportFormat> report_formats();
// By name; null when there is none.
const ReportFormat* find_report_format(std::string_view name);

// Whether text and md show what the table says in sentences instead (`summary` and `findings` next to the answer).
bool shown_as_prose(const Report& report, const ResultTable& table);

// How many rows of the table a limit leaves, for 0 = all.
std::size_t shown_rows(const ResultTable& table, std::int64_t limit);

void write_text(const Report& report, const Style& style, Sink& sink);
void write_markdown(const Report& report, const Style& style, Sink& sink);
void write_json(const Report& report, const Style& style, Sink& sink);
// {"tables": [...]} with every row, each table as in write_json.
void write_tables_json(std::span<const ResultTable> tables, Sink& sink);
void write_csv(const Report& report, const Style& style, Sink& sink);

}  // namespace gpuprof::report
