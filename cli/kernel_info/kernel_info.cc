// `kernel-info`: what the kernels of a compiled file need, and how many of their threads fit on a multiprocessor. Reads
// cubins only; for other forms of GPU code the error says how to get one.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "analyze/knowledge/occupancy.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/common_options.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/report_output.h"
#include "cli/terminal.h"
#include "core/base/result.h"
#include "core/base/text/function_name.h"
#include "core/base/text/readable.h"
#include "core/base/text/shell_words.h"
#include "core/base/text/utf8.h"
#include "core/model/result_table.h"
#include "io/cubin/cubin.h"
#include "io/cubin/line_table.h"
#include "io/importers/source/read_all.h"
#include "io/importers/source/source.h"
#include "present/report/markdown.h"
#include "present/report/report.h"
#include "present/report/text_table.h"

namespace gpuprof::inline cli {
namespace {

// The tables of `kernel-info`: what each kernel of a cubin needs, and its source lines.

// A file in memory, as a cubin.
struct CubinFile {
    std::string name, bytes;
    cubin::Cubin cubin;
};

struct KernelQuestion {
    std::vector<std::int64_t> threads;      // block sizes; empty: each kernel's launch bounds, or 256
    std::int64_t dynamic_shared_bytes = 0;  // per block, in addition to what the kernel declares
};

constexpr std::int64_t kUsualThreads = 256;

constexpr ResultColumn kKernelColumns[] = {
    {"name", CellType::text, Unit::none, "Kernel name, demangled."},
    {"registers", CellType::integer, Unit::count, "Registers per thread."},
    {"shared_bytes", CellType::integer, Unit::bytes, "Static shared memory per block."},
    {"stack_bytes", CellType::integer, Unit::bytes, "Stack per thread, in local memory: arrays, spills, calls."},
    {"spills", CellType::integer, Unit::count,
     "Instructions that spill or refill registers; absent if the compiler does not say."},
    {"threads", CellType::integer, Unit::count, "Threads per block that the occupancy is for."},
    {"occupancy_pct", CellType::real, Unit::percent, "Theoretical occupancy."},
    {"limiter", CellType::text, Unit::none,
     "Limiter of the occupancy: registers, shared memory, barriers, blocks or warps; or why no block can run."},
    {"raised_by", CellType::text, Unit::none, "Single changes that raise the occupancy, each with the result."},
    {"blocks_per_sm", CellType::integer, Unit::count, "Blocks that fit on a multiprocessor."},
    {"barriers", CellType::integer, Unit::count, "Barriers per block."},
    {"block_limit", CellType::text, Unit::none, "Largest block, x,y,z, from __launch_bounds__."},
    {"block", CellType::text, Unit::none, "The only possible block, x,y,z, if the kernel requires one."},
    {"cluster", CellType::text, Unit::none, "Blocks per cluster, x,y,z."},
    {"register_limit", CellType::integer, Unit::count, "Most registers that the compiler could use per thread."},
    {"line_table", CellType::boolean, Unit::none, "Whether instructions have source lines."},
    {"code_bytes", CellType::integer, Unit::bytes, "Size of the code."},
    {"architecture", CellType::text, Unit::none, "Architecture that it was compiled for."},
    {"symbol", CellType::text, Unit::none, "Name in the file, mangled."},
    {"file", CellType::text, Unit::none, "File that contains it."},
};

constexpr ResultColumn kLineColumns[] = {
    {"name", CellType::text, Unit::none, "Kernel name, demangled."},
    {"offset", CellType::integer, Unit::bytes, "First instruction, from the start of the kernel."},
    {"bytes", CellType::integer, Unit::bytes, "Size of these instructions."},
    {"line", CellType::integer, Unit::none, "Source line: the innermost one, where functions are inlined."},
    {"source", CellType::text, Unit::none, "Source file of that line."},
    {"user_line", CellType::integer, Unit::none, "Last source line up to here outside the headers of CUDA and Triton."},
    {"user_source", CellType::text, Unit::none, "Source file of that line."},
    {"symbol", CellType::text, Unit::none, "Name in the file, mangled."},
    {"file", CellType::text, Unit::none, "File that contains it."},
};

Cell cell(const std::optional<std::int64_t>& value) { return value ? Cell(*value) : kAbsent; }
Cell cell(const std::string& text) { return text.empty() ? kAbsent : Cell(std::string_view(text)); }

std::string text_of(const std::optional<cubin::Dimensions>& size) {
    return size ? fmt::format("{},{},{}", (*size)[0], (*size)[1], (*size)[2]) : "";
}

// The product, as far as it matters: more than any device allows is all the same.
std::int64_t product(const cubin::Dimensions& size) {
    std::int64_t result = 1;
    for (std::uint32_t each : size) result = std::min<std::int64_t>(result * each, 1 << 20);
    return result;
}

std::vector<std::int64_t> block_sizes(const cubin::Function& kernel, const KernelQuestion& question) {
    if (!question.threads.empty()) return question.threads;
    if (kernel.required_block) return {product(*kernel.required_block)};
    return {kernel.max_block ? product(*kernel.max_block) : kUsualThreads};
}

// Why a block of this size is refused, beyond the device's limits; empty if it is not.
std::string_view refusal(const cubin::Function& kernel, std::int64_t threads) {
    if (kernel.required_block && threads != product(*kernel.required_block)) return "required block size";
    if (kernel.max_block && threads > product(*kernel.max_block)) return "launch bounds";
    return "";
}

struct KernelOccupancy {
    std::optional<Occupancy> occupancy;
    std::string limiter, raised_by;
};

KernelOccupancy occupancy_of(const cubin::Cubin& cubin, const cubin::Function& kernel, std::int64_t threads,
                             const KernelQuestion& question) {
    if (std::string_view refused = refusal(kernel, threads); !refused.empty()) return {{}, std::string(refused), ""};
    LaunchShape shape;
    shape.block_x = static_cast<int>(threads);
    if (kernel.registers) shape.registers_per_thread = static_cast<int>(*kernel.registers);
    if (kernel.static_shared_bytes) shape.shared_bytes = *kernel.static_shared_bytes + question.dynamic_shared_bytes;
    if (kernel.barriers) shape.barriers = static_cast<int>(*kernel.barriers);
    if (kernel.cluster) shape.cluster_blocks = static_cast<int>(product(*kernel.cluster));
    DeviceLimits device{.cc_major = cubin.cc_major(), .cc_minor = cubin.cc_minor()};
    KernelOccupancy result{theoretical_occupancy(shape, device), "", ""};
    if (!result.occupancy) return result;
    result.limiter = to_string(result.occupancy->limiter);
    std::vector<OccupancyChange> changes = occupancy_changes(shape, device);
    std::erase_if(changes, [&](const OccupancyChange& change) {
        return change.resource == OccupancyChange::Resource::threads && !refusal(kernel, change.value).empty();
    });
    result.raised_by = to_string(changes);
    return result;
}

void add_kernel(ResultTable& table, const CubinFile& file, const cubin::Function& kernel, bool lines,
                const KernelQuestion& question) {
    std::string name = demangled(kernel.name), architecture = file.cubin.architecture_name();
    std::string limit = text_of(kernel.max_block), block = text_of(kernel.required_block),
                cluster = text_of(kernel.cluster);
    for (std::int64_t threads : block_sizes(kernel, question)) {
        KernelOccupancy of = occupancy_of(file.cubin, kernel, threads, question);
        table.add_row({cell(name),
                       cell(kernel.registers),
                       cell(kernel.static_shared_bytes),
                       cell(kernel.stack_bytes),
                       cell(kernel.spill_instructions),
                       threads,
                       of.occupancy ? Cell(of.occupancy->pct) : kAbsent,
                       cell(of.limiter),
                       cell(of.raised_by),
                       of.occupancy ? Cell(std::int64_t{of.occupancy->blocks_per_sm}) : kAbsent,
                       cell(kernel.barriers),
                       cell(limit),
                       cell(block),
                       cell(cluster),
                       cell(kernel.register_limit),
                       lines,
                       static_cast<std::int64_t>(kernel.code_bytes),
                       cell(architecture),
                       kernel.name,
                       cell(file.name)});
    }
}

Error with_file(const CubinFile& file, const Error& error) {
    return {error.code, fmt::format("cannot read {}: {}", file.name, error.message)};
}

// One row per kernel and block size. Fails if a line table cannot be read.
Result<ResultTable> kernel_table(const std::vector<CubinFile>& files, const KernelQuestion& question) {
    ResultTable table("kernel_info", kKernelColumns);
    std::set<std::string> unknown;
    for (const CubinFile& file : files) {
        Result<cubin::LineTable> lines = cubin::LineTable::read(file.cubin);
        if (!lines.ok()) return with_file(file, lines.error());
        DeviceLimits device{.cc_major = file.cubin.cc_major(), .cc_minor = file.cubin.cc_minor()};
        if (!theoretical_occupancy({.registers_per_thread = 1, .shared_bytes = 0}, device))
            unknown.insert(file.cubin.architecture_name());
        for (const cubin::Function& kernel : file.cubin.functions)
            if (kernel.kernel) add_kernel(table, file, kernel, lines->covers(kernel), question);
    }
    for (const std::string& architecture : unknown)
        table.notes.push_back(fmt::format("No occupancy for {}: its limits are unknown.", architecture));
    return table;
}

// One row per stretch of instructions of one source line.
Result<ResultTable> line_table(const std::vector<CubinFile>& files) {
    ResultTable table("kernel_lines", kLineColumns);
    for (const CubinFile& file : files) {
        Result<cubin::LineTable> lines = cubin::LineTable::read(file.cubin);
        if (!lines.ok()) return with_file(file, lines.error());
        for (const cubin::Function& kernel : file.cubin.functions) {
            if (!kernel.kernel) continue;
            std::string name = demangled(kernel.name);
            for (const cubin::SourceRange& range : lines->ranges(kernel)) {
                const std::optional<cubin::SourceLine>& user = range.place.user;
                table.add_row({cell(name), static_cast<std::int64_t>(range.offset),
                               static_cast<std::int64_t>(range.bytes), std::int64_t{range.place.innermost.line},
                               cell(range.place.innermost.file), user ? Cell(std::int64_t{user->line}) : kAbsent,
                               user ? cell(user->file) : kAbsent, kernel.name, cell(file.name)});
            }
        }
    }
    if (table.rows() == 0)
        table.notes.push_back("No source lines; compile with nvcc -lineinfo. Triton writes them by default.");
    return table;
}

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
    line.option("--format", arguments->format, "Output format: text, csv, json or md (default: text).")
        .suggest(names_of(report_formats()))
        .value("FORMAT");
    line.option("-o,--output", arguments->output, "Write to this file instead of standard output.").value("FILE");
    declare_read_limits(line, arguments->limits);
    return [arguments] { return run_kernel_info(*arguments); };
}

}  // namespace

extern const Command kKernelInfoCommand;
const Command kKernelInfoCommand{"kernel-info", "Analyse compiled kernels", "FILE.cubin... [OPTIONS]",
                                 "Show what compiled kernels need: registers, shared memory, spills, occupancy.",
                                 declare_kernel_info};

}  // namespace gpuprof::cli
