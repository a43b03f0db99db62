// `kernel-info`: what the kernels of a compiled file need, and how many of their threads fit on a multiprocessor. Reads
// cubins only; for other forms of GPU code the error says how to get one.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/choice.h"
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/common_options.h"
#include "cli/kernel_info/kernel_info_tables.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/report_output.h"
#include "cli/terminal.h"
#include "core/base/text/readable.h"
#include "core/base/text/shell_words.h"
#include "core/base/text/utf8.h"
#include "io/importers/source/read_all.h"
#include "io/importers/source/source.h"
#include "present/report/markdown.h"
#include "present/report/report.h"
#include "present/report/text_table.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{2} << 30;  // libraries of NVIDIA hold cubins of some hundred MB

struct KernelInfoArguments {
    std::vector<std::string> files;
    std::vector<std::int64_t> threads;
    std::int64_t shared_bytes = 0;
    bool lines = false;
    std::string format = "text";
    std::string output = "-";
    std::int64_t limit = 20;
    ReadLimits limits;
};

Result<CubinFile> read_file(const std::string& name, const ReadLimits& limits) {
    Result<std::unique_ptr<Source>> source = open_source(name, limits);
    if (!source.ok()) return source.error();
    Result<std::string> bytes = read_all(**source, kMaxBytes);
    if (!bytes.ok()) return bytes.error();
    CubinFile file{name, std::move(bytes).value(), {}};
    return file;
}

// The cubin refers to the bytes, which therefore must be in their place already.
Status read_cubin_of(CubinFile& file) {
    Result<cubin::Cubin> cubin = cubin::read_cubin(file.bytes);
    if (!cubin.ok()) {
        std::string instead = cubin::what_instead(file.bytes, shell_quoted_file(file.name));
        return Error{ExitCode::unreadable, fmt::format("{} {}", file.name, instead)};
    }
    file.cubin = std::move(cubin).value();
    if (file.cubin.elf.relocatable)
        return Error{ExitCode::unreadable,
                     fmt::format("{} is not linked, so its registers and shared memory are not final; link it with "
                                 "nvlink, or extract the cubins of the finished program with `cuobjdump -xelf all`",
                                 file.name)};
    for (const cubin::Function& function : file.cubin.functions)
        if (function.kernel) return {};
    return Error{ExitCode::empty, fmt::format("{} holds no kernels", file.name)};
}

// "kernels.cubin: sm_90a, 7 kernels".
std::string sentence(const CubinFile& file) {
    const std::vector<cubin::Function>& functions = file.cubin.functions;
    auto kernels = std::count_if(functions.begin(), functions.end(), [](const auto& each) { return each.kernel; });
    return fmt::format("{}: {}, {} kernel{}", file.name, file.cubin.architecture_name(), readable_count(kernels),
                       kernels == 1 ? "" : "s");
}

void write_for_people(const std::vector<CubinFile>& files, const ResultTable& table, bool markdown, const Style& style,
                      Sink& sink) {
    for (const CubinFile& file : files)
        sink.write(markdown ? markdown_escaped(sentence(file)) + "\n\n" : printable(sentence(file)) + "\n");
    if (!markdown) sink.write("\n");
    markdown ? write_markdown_table(table, style.limit, sink) : write_text_table(table, style, sink);
}

// Text and md begin with the files, where a report has its recording.
Status write(const KernelInfoArguments& arguments, const ReportFormat& format, const std::vector<CubinFile>& files,
             ResultTable table) {
    if (format.name == "text" || format.name == "md") {
        Result<Output> output = Output::open(arguments.output);
        if (!output.ok()) return output.error();
        Style style = style_for(arguments.output);
        style.limit = arguments.limit;
        write_for_people(files, table, format.name == "md", style, *output);
        return output->close();
    }
    std::vector<ResultTable> tables;
    tables.push_back(std::move(table));
    Report report{.version = program_version(), .origin = {}, .window = {}, .trust = {}, .tables = tables};
    return write_report(format, report, arguments.output, arguments.limit);
}

Result<ExitCode> run_kernel_info(const KernelInfoArguments& arguments) {
    const ReportFormat* format = find_report_format(arguments.format);
    if (format == nullptr) return unknown_choice("format", arguments.format, names_of(report_formats()));
    if (Status free = check_output(arguments.output, arguments.files); !free.ok()) return free.error();
    std::vector<CubinFile> files;
    for (const std::string& name : arguments.files) {
        Result<CubinFile> file = read_file(name, arguments.limits);
        if (!file.ok()) return file.error();
        files.push_back(std::move(file).value());
    }
    for (CubinFile& file : files)
        if (Status read = read_cubin_of(file); !read.ok()) return read.error();
    Result<ResultTable> table =
        arguments.lines ? line_table(files) : kernel_table(files, {arguments.threads, arguments.shared_bytes});
    if (!table.ok()) return table.error();
    Status written = write(arguments, *format, files, std::move(table).value());
    return written.ok() ? Result<ExitCode>(ExitCode::ok) : written.error();
}

std::function<Result<ExitCode>()> declare_kernel_info(CommandLine& line) {
    constexpr std::int64_t kMaxThreads = 1024, kMaxShared = 1 << 20, kMaxRows = std::int64_t{1} << 40;
    auto arguments = std::make_shared<KernelInfoArguments>();
    line.option("FILE", arguments->files, "Cubins: of nvcc -cubin, ptxas, Triton or cuobjdump -xelf.")
        .required()
        .value("");
    line.option(
            "--threads", arguments->threads,
            "Threads per block for the occupancy, 1-1024; several separated by commas (default: the kernel's launch "
            "bounds, else 256).")
        .comma_separated()
        .integer_range(1, kMaxThreads)
        .value("N");
    line.option("--shared-bytes", arguments->shared_bytes,
                "Dynamic shared memory per block, in bytes, in addition to the static (default: 0).")
        .integer_range(0, kMaxShared)
        .value("N");
    line.flag("--lines", arguments->lines, "Show the source line of each instruction instead.");
    line.option("--limit", arguments->limit, "Rows shown; 0 shows all (default: 20).")
        .integer_range(0, kMaxRows)
        .value("N");
    line.option("--format", arguments->format, "Output format: text, csv, json or md (default: text).").value("FORMAT");
    line.option("-o,--output", arguments->output, "Write to this file instead of standard output.").value("FILE");
    declare_read_limits(line, arguments->limits);
    return [arguments] { return run_kernel_info(*arguments); };
}

}  // namespace

extern const Command kKernelInfoCommand;
const Command kKernelInfoCommand{"kernel-info",
                                 "Analyse compiled kernels",
                                 "FILE.cubin... [OPTIONS]",
                                 "Show what compiled kernels need: registers, shared memory, spills, occupancy.",
                                 declare_kernel_info,
                                 [] {
                                     return std::vector<Choices>{{"--format", names_of(report_formats())}};
                                 }};

}  // namespace gpuprof::cli
