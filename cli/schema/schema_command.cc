// `schema`: prints everything this program declares, so that the reference is never out of date: tables and columns of
// a trace, analyses and their columns, options, metrics, losses, exit codes. docs/reference/schema.md is its Markdown
// output; a case compares the two.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/choice.h"
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/schema/documents.h"
#include "cli/schema/reference.h"
#include "cli/terminal.h"
#include "present/report/markdown.h"
#include "present/report/paint.h"
#include "present/report/report.h"
#include "present/report/text_lines.h"
#include "present/report/text_table.h"

namespace gpuprof::inline cli {
namespace {

struct SchemaArguments {
    std::string format = "text";
    std::string output = "-";
};

Style style_of(const SchemaArguments& arguments) {
    Style style = style_for(arguments.output);
    style.limit = 0;
    return style;
}

void write_as_text(const std::vector<Section>& sections, const Style& style, Sink& sink) {
    Paint paint(style.colour);
    for (const Section& section : sections) {
        sink.write(fmt::format("{}{}\n", section.level == 1 ? "\n" : "\n  ", paint.bold(section.title)));
        for (const std::string& line : wrap(section.doc, style.width)) sink.write(line + "\n");
        if (section.table) write_text_table(*section.table, style, sink);
    }
}

void write_as_markdown(const std::vector<Section>& sections, Sink& sink) {
    sink.write("# Reference\n\nPrinted by `gpu-profile schema --format md`.\n");
    for (const Section& section : sections) {
        sink.write(fmt::format("\n{} {}\n", section.level == 1 ? "##" : "###", markdown_escaped(section.title)));
        if (!section.doc.empty()) sink.write(fmt::format("\n{}\n", markdown_escaped(section.doc)));
        if (!section.table) continue;
        sink.write("\n");
        write_markdown_table(*section.table, 0, sink);
    }
}

// Flat tables in the envelope of every JSON answer.
void write_as_json(const Style& style, Sink& sink) {
    std::vector<ResultTable> tables = reference_tables();
    write_json({.version = program_version(), .origin = {}, .window = {}, .trust = {}, .tables = tables}, style, sink);
}

constexpr std::string_view kSchemaFormats[] = {"text", "md", "json", "json-schema"};

Result<ExitCode> run_schema(const SchemaArguments& arguments) {
    std::vector<std::string_view> formats(std::begin(kSchemaFormats), std::end(kSchemaFormats));
    if (std::find(formats.begin(), formats.end(), arguments.format) == formats.end())
        return unknown_choice("format", arguments.format, formats);
    Result<Output> output = Output::open(arguments.output);
    if (!output.ok()) return output.error();
    Style style = style_of(arguments);
    if (arguments.format == "json")
        write_as_json(style, *output);
    else if (arguments.format == "json-schema")
        output->write(documents_schema());
    else if (arguments.format == "md")
        write_as_markdown(reference_sections(), *output);
    else
        write_as_text(reference_sections(), style, *output);
    if (Status closed = output->close(); !closed.ok()) return closed.error();
    return ExitCode::ok;
}

std::function<Result<ExitCode>()> declare_schema(CommandLine& line) {
    auto arguments = std::make_shared<SchemaArguments>();
    line.option("--format", arguments->format,
                "Output format: text, md, json, or json-schema for the JSON Schema of all JSON output (default: text).")
        .suggest(kSchemaFormats)
        .value("FORMAT");
    line.option("-o,--output", arguments->output, "Write to this file instead of standard output.").value("FILE");
    return [arguments] { return run_schema(*arguments); };
}

}  // namespace

extern const Command kSchemaCommand;
const Command kSchemaCommand{"schema", "Setup and reference", "",
                             "List every table, column, analysis, option, metric, kind of loss and exit code.",
                             declare_schema};

}  // namespace gpuprof::cli
