// `export`: writes a recording in another format; the list of formats is core/exporters/exporter.h.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/choice.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/recording.h"
#include "core/exporters/exporter.h"
#include "core/importers/several.h"

namespace gpuprof {
namespace {

struct Arguments {
    std::string format;
    std::vector<std::string> files;
    std::string output = "-";
};

Result<ExitCode> run(const Arguments& arguments) {
    const Exporter* exporter = find_exporter(arguments.format);
    if (exporter == nullptr) return unknown_choice("export format", arguments.format, names_of(exporters()));
    if (exporter->binary && arguments.output == "-" && isatty(STDOUT_FILENO) == 1)
        return Error{ExitCode::usage, fmt::format("a {} is binary; write it to a file with -o NAME{}", exporter->name,
                                                  exporter->suffix)};
    Result<Trace> trace = open_trace(arguments.files);
    if (!trace.ok()) return trace.error();
    Result<Output> output = Output::open(arguments.output);
    if (!output.ok()) return output.error();
    Status exported = exporter->run(*trace, *output);
    // The output knows why writing failed, and that a reader which went away is no failure.
    if (Status closed = output->close(); !closed.ok()) return closed.error();
    if (!exported.ok() && !output->failed()) return exported.error();
    return ExitCode::ok;
}

std::function<Result<ExitCode>()> declare(CLI::App& app) {
    auto arguments = std::make_shared<Arguments>();
    std::string formats;
    for (const Exporter& exporter : exporters())
        formats += fmt::format("{}{}: {}", formats.empty() ? "" : " ", exporter.name, exporter.doc);
    app.add_option("FORMAT", arguments->format, formats)->required()->type_name("");
    app.add_option("FILE", arguments->files, kRecordingsDoc)->required()->type_name("");
    app.add_option("-o,--output", arguments->output, "Write to this file instead of standard output.")
        ->type_name("FILE");
    return [arguments] { return run(*arguments); };
}

}  // namespace

extern const Command kExportCommand;
const Command kExportCommand{
    "export", "Read a recording", "FORMAT FILE... [-o OUT]", "The recording in another format.", declare, [] {
        return std::vector<Choices>{{"FORMAT", names_of(exporters())}};
    }};

}  // namespace gpuprof
