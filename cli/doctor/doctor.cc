// `doctor`: what works on this machine, and why the rest does not. Reading recordings always works, so doctor never
// fails: the exit status is 0 whatever is missing.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/choice.h"
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/doctor/probe.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "core/schema/meta_keys.h"
#include "io/importers/importer.h"
#include "present/report/paint.h"
#include "present/report/report.h"
#include "present/report/text_lines.h"

namespace gpuprof::inline cli {
namespace {

constexpr ResultColumn kDoctorColumns[] = {
    {"check", CellType::text, Unit::none, "What was checked."},
    {"health", CellType::text, Unit::none, "ok, limited or missing."},
    {"found", CellType::text, Unit::none, "What was found, or what is missing."},
    {"remedy", CellType::text, Unit::none, "What to do; absent if nothing needs to be done."},
};

// Reading works everywhere. It comes first to show that it needs no GPU.
Check check_reading() {
    std::string names;
    for (const Importer& importer : all_importers())
        names += fmt::format("{}{}", names.empty() ? "" : ", ", importer.name);
    return {"reading recordings", Health::ok, names, ""};
}

std::vector<Check> all_checks() {
    std::vector<Check> checks{check_reading()};
    for (Check& check : check_machine()) checks.push_back(std::move(check));
    if (*meta_key::kRecorderUntried != '\0')
        checks.push_back({"recorder", Health::limited, meta_key::kRecorderUntried,
                          "gpu-profile help gpu-checks says what has been shown instead, and how to check it here"});
    return checks;
}

ResultTable table_of(const std::vector<Check>& checks) {
    ResultTable table("doctor", kDoctorColumns);
    for (const Check& check : checks)
        table.add_row({std::string_view(check.name), name_of(check.health), std::string_view(check.found),
                       check.remedy.empty() ? kAbsent : Cell(std::string_view(check.remedy))});
    return table;
}

void write_checks(const std::vector<Check>& checks, const Style& style, Sink& sink) {
    constexpr int kHealth = 9, kName = 22;
    Paint paint(style.colour);
    std::string indent(kHealth + kName, ' ');
    for (const Check& check : checks) {
        std::string health = pad_right(name_of(check.health), kHealth);
        std::string head =
            (check.health == Health::ok ? paint.busy(health) : paint.warning(health)) + pad_right(check.name, kName);
        int room = std::max(style.width - kHealth - kName, 30);
        for (const std::string& line : wrap(printable(check.found), room))
            sink.write(std::exchange(head, indent) + line + "\n");
        std::string arrow = style.unicode ? "→ " : "> ";
        for (const std::string& line : wrap(printable(check.remedy), room - 2))
            sink.write(indent + std::exchange(arrow, "  ") + line + "\n");
    }
}

struct DoctorArguments {
    std::string format = "text";
};

Result<ExitCode> run_doctor(const DoctorArguments& arguments) {
    const ReportFormat* format = find_report_format(arguments.format);
    if (format == nullptr) return unknown_choice("format", arguments.format, names_of(report_formats()));
    std::vector<Check> checks = all_checks();
    Result<Output> output = Output::open("-");
    Style style = style_for("-");
    style.limit = 0;
    if (arguments.format == "text") {
        write_checks(checks, style, *output);
    } else {
        std::vector<ResultTable> tables;
        tables.push_back(table_of(checks));
        format->write({.version = program_version(), .origin = {}, .window = {}, .trust = {}, .tables = tables}, style,
                      *output);
    }
    if (Status closed = output->close(); !closed.ok()) return closed.error();
    return ExitCode::ok;
}

std::function<Result<ExitCode>()> declare_doctor(CommandLine& line) {
    auto arguments = std::make_shared<DoctorArguments>();
    line.option("--format", arguments->format, "Output format: text, csv, json or md (default: text).")
        .suggest(names_of(report_formats()))
        .value("FORMAT");
    return [arguments] { return run_doctor(*arguments); };
}

}  // namespace

extern const Command kDoctorCommand;
const Command kDoctorCommand{"doctor", "Setup and reference", "",
                             "Check what works on this machine, and how to fix the rest.", declare_doctor};

}  // namespace gpuprof::cli
