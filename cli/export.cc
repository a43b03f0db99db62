// `export`: writes a recording in another format: one of io/exporters/exporter.h, or the viewer's page.
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyze/facts/kernels/source_texts.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/common_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/view/page.h"
#include "cli/view/pair.h"
#include "core/model/build/damage.h"
#include "core/model/privacy/private_paths.h"
#include "io/exporters/exporter.h"
#include "io/importers/open_trace.h"

namespace gpuprof::inline cli {
namespace {

// What an exported page must not name: the folders and the name of the user who exports it.

// Folders at the top, such as /tmp, reveal nothing.
void add_folder(PrivateNames& names, const std::filesystem::path& folder) {
    std::string text = folder.lexically_normal().string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    if (text.starts_with('/') && std::count(text.begin(), text.end(), '/') > 1) names.folders.push_back(text);
}

// The home and working folders, those of `files`, and the name of the user. Files below the folder `sources`, if one is
// given, are shown with their place in it.
PrivateNames private_names(std::span<const std::string> files, const std::string& sources) {
    PrivateNames names;
    if (!sources.empty()) {
        add_folder(names, std::filesystem::absolute(sources));
        names.place = [texts = SourceTexts(sources)](std::string_view path) { return texts.place(path); };
    }
    std::error_code unknown;
    if (const char* home = std::getenv("HOME")) add_folder(names, home);
    add_folder(names, std::filesystem::current_path(unknown));
    for (const std::string& file : files)
        if (!file.empty()) add_folder(names, std::filesystem::absolute(file, unknown).parent_path());
    if (const passwd* user = getpwuid(getuid()); user != nullptr) {
        add_folder(names, user->pw_dir);
        if (std::string name = user->pw_name; name != "root" && !name.empty()) names.users.push_back(name);
    }
    return names;
}

struct ExportArguments {
    std::string format;
    std::vector<std::string> files;
    std::string base, sources;
    std::string output = "-";
    ReadLimits limits;
};

constexpr std::string_view kCapture = "capture";
constexpr std::string_view kHtml = "html";
constexpr std::string_view kHtmlDoc = "the viewer and the recording in one file, for any browser.";

std::vector<std::string_view> formats() {
    std::vector<std::string_view> names = names_of(all_exporters());
    names.push_back(kHtml);
    return names;
}

Status write_trace(const Exporter& exporter, const ExportArguments& arguments) {
    Result<Trace> trace = open_trace(arguments.files, arguments.limits);
    if (!trace.ok()) return trace.error();
    if (!exporter.has_content(*trace))
        return Error{ExitCode::empty,
                     after_damage(*trace, fmt::format("nothing to export: {} holds no {}, which {} needs",
                                                      trace->origin().file, exporter.content, exporter.name))};
    note_damage(*trace);
    bool capture = exporter.name == kCapture;  // everything recorded, including paths and command lines
    return write_output(
        arguments.output, [&](Sink& sink) { return exporter.run(*trace, sink); },
        capture ? FileAccess::owner : FileAccess::by_umask);
}

Status write_page(const ExportArguments& arguments) {
    Result<std::string_view> page = viewer_page();
    if (!page.ok()) return page.error();
    Result<Trace> trace = open_for_page(arguments.files, arguments.limits);
    if (!trace.ok()) return trace.error();
    std::vector<std::string> inputs = arguments.files;
    inputs.push_back(arguments.base);
    Result<ViewPair> pair = view_pair(std::move(trace).value(), {.name = arguments.files.front(),
                                                                 .base = arguments.base,
                                                                 .sources = arguments.sources,
                                                                 .limits = arguments.limits,
                                                                 .hidden = private_names(inputs, arguments.sources)});
    if (!pair.ok()) return pair.error();
    constexpr double kLarge = 16e6;  // bytes; smaller pages are written faster than their size is read
    if (double bytes = static_cast<double>(page->size() + estimated_bytes(*pair)); bytes >= kLarge)
        note(fmt::format("writing a page of about {:.0f} MB", bytes / 1e6));
    return write_output(arguments.output, [&](Sink& sink) { return write_single_file(*pair, *page, sink); });
}

Result<ExitCode> run_export(const ExportArguments& arguments) {
    Progress progress;
    const Exporter* exporter = find_exporter(arguments.format);
    if (exporter == nullptr && arguments.format != kHtml)
        return unknown_choice("export format", arguments.format, formats());
    if (exporter != nullptr && exporter->binary && arguments.output == "-" && isatty(STDOUT_FILENO) == 1)
        return Error{ExitCode::usage, fmt::format("cannot write {} to a terminal: the format is binary; use -o NAME{}",
                                                  exporter->name, exporter->suffix)};
    if (exporter != nullptr && !arguments.base.empty())
        return Error{ExitCode::usage,
                     fmt::format("--base applies to html only; {} holds one recording", exporter->name)};
    if (exporter != nullptr && !arguments.sources.empty())
        return Error{ExitCode::usage, "--sources applies to html only"};
    std::vector<std::string> inputs = arguments.files;
    inputs.push_back(arguments.base);
    if (Status free = check_output(arguments.output, inputs); !free.ok()) return free.error();
    Status written = exporter != nullptr ? write_trace(*exporter, arguments) : write_page(arguments);
    if (!written.ok()) return written.error();
    return ExitCode::ok;
}

std::function<Result<ExitCode>()> declare_export(CommandLine& line) {
    auto arguments = std::make_shared<ExportArguments>();
    std::string choices;
    for (const Exporter& exporter : all_exporters())
        choices += fmt::format("{}{}: {}", choices.empty() ? "" : " ", exporter.name, exporter.doc);
    choices += fmt::format(" {}: {}", kHtml, kHtmlDoc);
    line.option("FORMAT", arguments->format, choices).required().suggest(formats()).value("");
    line.option("FILE", arguments->files, kRecordingsDoc).required().value("");
    line.option("--base", arguments->base, fmt::format("html: {}", kBaseDoc)).value("FILE");
    line.option("--sources", arguments->sources, fmt::format("html: {}", kSourcesDoc)).value("DIR");
    line.option("-o,--output", arguments->output, "Write to this file instead of standard output.").value("FILE");
    declare_read_limits(line, arguments->limits);
    return [arguments] { return run_export(*arguments); };
}

}  // namespace

extern const Command kExportCommand;
const Command kExportCommand{"export", "Analyse recordings", "FORMAT FILE... [-o OUT]",
                             "Convert a recording to another format.", declare_export};

}  // namespace gpuprof::cli
