// `record`: runs a command with the injected collector, merges the parts of its processes into one capture, and shows
// the first answer.
// The command keeps its streams, signals and exit status, and no failure here affects it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/doctor/probe.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/record/companions.h"
#include "cli/record/injection.h"
#include "cli/record/parts.h"
#include "cli/record/watch.h"
#include "cli/report/first_answer.h"
#include "collect/launch/injection.h"
#include "collect/launch/preload_path.h"
#include "collect/launch/target.h"
#include "core/base/command_line.h"
#include "core/base/host_name.h"
#include "core/base/readable.h"
#include "core/base/shell_words.h"
#include "core/exporters/exporter.h"
#include "core/importers/formats.h"
#include "core/importers/importer.h"
#include "core/schema/facts.h"

namespace gpuprof {
namespace {

struct Arguments {
    std::string output = "recording.gpuprof";
    std::string merge;  // a folder of parts; then no command runs
    InjectionArguments injection;
    std::string max_size;
    double python = 0;  // Hz; 0: no stacks
    bool quiet = false;
    std::vector<std::string> sample, command;
};

// How the command ran.
struct Recording {
    std::string command;  // without secrets; "" with --no-command-line
    pid_t pid = -1;
    TargetExit end;
    std::optional<DurNs> full_after = {};  // when the parts reached --max-size
};

// The companions that could be prepared.
class Companions {
public:
    explicit Companions(const SpoolFolder& folder) : folder_(folder) {}
    void prepare(std::unique_ptr<Companion> companion) {
        Status status = companion->prepare(companion_part(folder_.path(), companion->name()));
        if (!status)
            note(status.error().message);
        else
            ready_.push_back(std::move(companion));
    }
    void started(pid_t target) {
        for (const auto& companion : ready_) companion->started(target);
    }
    void ended() {
        std::lock_guard lock(mutex_);
        for (const auto& companion : ready_)
            if (!stopped_) companion->ended();
    }
    // Thread-safe; one call is enough.
    void stop() {
        std::lock_guard lock(mutex_);
        if (stopped_) return;
        for (const auto& companion : ready_) companion->ask_to_stop();
        for (const auto& companion : ready_) {
            if (Status status = companion->stop(); !status) remarks_.push_back(status.error().message);
            for (const std::string& remark : companion->remarks()) remarks_.push_back(remark);
        }
        stopped_ = true;
    }
    // Their messages, after stop().
    const std::vector<std::string>& remarks() const { return remarks_; }

private:
    const SpoolFolder& folder_;
    std::vector<std::unique_ptr<Companion>> ready_;
    std::mutex mutex_;  // guards the members below
    bool stopped_ = false;
    std::vector<std::string> remarks_;
};

// The launcher's facts: that it recorded, and how the command ended.
Batch own_facts(const Recording& recording) {
    Batch facts;
    MetaTable& meta = facts.tables.meta;
    Row row = meta.add();
    meta.key.set(row, facts.intern(fact::kTool));
    meta.value.set(row, facts.intern(fact::kRecorderTool));
    if (recording.full_after) {
        row = meta.add();
        meta.key.set(row, facts.intern("record.full_after_ns"));
        meta.value.set(row, facts.intern(std::to_string(*recording.full_after)));
    }
    ProcessTable& process = facts.tables.process;
    row = process.add();
    process.key.set(row, facts.intern(fmt::format("{}:{}", host_name(), recording.pid)));
    process.pid.set(row, recording.pid);
    process.exit_status.set(row, recording.end.shell_status());
    if (!recording.command.empty()) process.command.set(row, facts.intern(recording.command));
    return facts;
}

// Explains a recording without data from the library: what was not seen, and which GPU software is missing.
std::string nothing_seen() {
    std::string missing;
    for (const Check& check : check_for_recording())
        if (check.health == Health::missing) missing += fmt::format("{}{}", missing.empty() ? "" : "; ", check.found);
    return fmt::format("neither CUDA nor NVTX was used{}",
                       missing.empty() ? "" : fmt::format(" (on this machine: {})", missing));
}

// Shows one line about the recording, and the first answer.
Status show(const Arguments& arguments, Trace trace, std::size_t seen) {
    std::size_t processes = seen > 0 ? seen : trace.tables().process.rows;
    note(fmt::format("{} process{} recorded in {}{}", processes, processes == 1 ? "" : "es", arguments.output,
                     seen > 0 ? ""
                              : fmt::format("; {}; gpu-profile report {} cpu shows CPU use", nothing_seen(),
                                            shell_quoted_file(arguments.output))));
    if (arguments.quiet || seen == 0) return {};
    Result<std::string> answer = first_answer_text(std::move(trace));
    if (!answer.ok()) return answer.error();
    fmt::print(stderr, "{}", *answer);
    return {};
}

// Everything after the end of the command; the exit status does not depend on it.
Status conclude(const Arguments& arguments, const Recording& recording, SpoolFolder& folder) {
    std::vector<std::string> files = folder.files();
    if (files.empty()) return Error{ExitCode::empty, "nothing was recorded"};
    Result<Trace> trace = merge_parts(own_facts(recording), files, arguments.output);
    Status status = trace.ok() ? write_recording(*trace, arguments.output) : trace.error();
    if (status) return show(arguments, std::move(*trace), processes_of(files));
    std::string kept = folder.path();
    folder.keep();
    return Error{status.error().code,
                 fmt::format("{}; the parts of the recording are kept; merge them later with: {}",
                             status.error().message, keep_for_merging(own_facts(recording), kept, arguments.output))};
}

// `record --merge`: merges the parts of an interrupted recording.
Result<ExitCode> merge_kept(const Arguments& arguments) {
    if (!arguments.command.empty())
        return Error{ExitCode::usage, "--merge does not run a command; remove -- and the words after it"};
    if (Status free = check_output(arguments.output, std::span(&arguments.merge, 1)); !free) return free.error();
    std::vector<std::string> files = parts_in(arguments.merge);
    if (files.empty())
        return Error{ExitCode::unreadable,
                     fmt::format("cannot merge '{}': it contains no parts of a recording", arguments.merge)};
    Result<Trace> trace = merge_parts({}, files, arguments.output);
    if (!trace.ok()) return trace.error();
    if (Status written = write_recording(*trace, arguments.output); !written) return written.error();
    if (Status shown = show(arguments, std::move(*trace), processes_of(files)); !shown) return shown.error();
    note(fmt::format("the parts are no longer needed; remove them with: rm -r {}", shell_quoted_file(arguments.merge)));
    return ExitCode::ok;
}

void prepare(Companions& companions, const Arguments& arguments, const SampleOption& sample,
             const SpoolFolder& folder) {
    if (arguments.injection.traces("cpu"))
        companions.prepare(record_cpu_use(folder.path(), !arguments.injection.recorder.no_command_line));
    if (arguments.python > 0) companions.prepare(record_python(folder.path(), arguments.python));
    if (sample.device_interval > 0) companions.prepare(record_devices(sample.device_interval));
    if (sample.counters) companions.prepare(record_counters(sample, arguments.command.front()));
}

// Absent if the library is not needed or cannot be preloaded; a note reports the latter.
std::optional<PreloadPath> preload_path(const std::string& library, const InjectionOptions& options) {
    if (!options.cuda) return std::nullopt;
    Result<PreloadPath> path = PreloadPath::of(library);
    if (path.ok()) return std::move(*path);
    note(path.error().message);
    return std::nullopt;
}

Result<ExitCode> record(const Arguments& arguments) {
    if (!arguments.merge.empty()) return merge_kept(arguments);
    if (arguments.command.empty())
        return Error{ExitCode::usage,
                     "no command to run; usage: gpu-profile record [OPTIONS] -- COMMAND [ARGUMENT...]"};
    if (Status free = check_output(arguments.output, arguments.command); !free) return free.error();
    Result<SampleOption> sample = parse_sample_option(arguments.sample);
    if (!sample.ok()) return sample.error();
    Result<InjectionOptions> options = injection_options(arguments.injection);
    if (!options.ok()) return options.error();
    std::optional<std::uint64_t> max_bytes = bytes_of_text(arguments.max_size);
    if (!arguments.max_size.empty() && !max_bytes)
        return Error{ExitCode::usage,
                     fmt::format("invalid --max-size '{}'; expected a number with B, KiB, MiB or GiB, such as 512MiB",
                                 arguments.max_size)};
    options->recorder.limited = max_bytes.has_value();
    Target target;
    std::string library = injected_library();
    if (library.empty())
        return Error{ExitCode::internal, "cannot find libgpuprof_inject.so next to the program; reinstall gpu-profile"};
    Result<SpoolFolder> folder = SpoolFolder::make(arguments.output);
    if (!folder.ok()) return folder.error();
    std::optional<PreloadPath> preload = preload_path(library, *options);
    for (const std::string& remark : set_injection(library, preload ? preload->path() : "", *folder, *options))
        note(remark);
    Companions companions(*folder);
    prepare(companions, arguments, *sample, *folder);
    RecordingWatch watch(*folder, {.max_bytes = max_bytes.value_or(0), .progress = !arguments.quiet, .on_full = [&] {
                                       companions.stop();
                                   }});
    if (Status started = target.start(arguments.command); !started) return started.error();
    companions.started(target.pid());
    watch.start();
    bool keep_command = !arguments.injection.recorder.no_command_line;
    Recording recording{.command = keep_command ? without_secrets(arguments.command) : "",
                        .pid = target.pid(),
                        .end = target.wait([&] { companions.ended(); })};
    watch.stop();
    companions.stop();
    recording.full_after = watch.full_after();
    for (const std::string& remark : companions.remarks()) note(remark);
    if (recording.full_after)
        note(fmt::format("the recording reached --max-size {} after {} and stopped; the command continued",
                         arguments.max_size, readable_duration(*recording.full_after)));
    {
        SpoolFolder spool = std::move(*folder);
        if (Status concluded = conclude(arguments, recording, spool); !concluded) note(concluded.error().message);
    }
    preload.reset();
    exit_like(recording.end);
}

std::function<Result<ExitCode>()> declare(CommandLine& line) {
    auto arguments = std::make_shared<Arguments>();
    line.option("-o,--output", arguments->output, "Capture to write.").value("FILE").show_default();
    declare_injection(line, arguments->injection);
    line.option("--sample", arguments->sample,
                "Interval between GPU samples (utilisation, memory, power, ...) in seconds, 0-3600; 0 is none. Or "
                "pm[:SET][@HZ]: "
                "hardware counters over time, with set default, memory or sm, at 1-50000 Hz. Accepts one of each.")
        .one_value_per_use()
        .value("S|pm")
        .default_text("0.1");
    line.option("--python", arguments->python,
                "Sample the Python stacks of all processes at this rate in Hz, 0.1-1000 (default: off).")
        .range(0.1, 1000.0)
        .value("HZ");
    line.option("--max-size", arguments->max_size,
                "Stop recording when the parts reach this size, such as 2GiB; the command continues.")
        .value("BYTES");
    line.option("--merge", arguments->merge,
                "Merge the parts that an interrupted recording left in this folder, instead of running a command.")
        .value("FOLDER");
    line.flag("--quiet", arguments->quiet, "Do not show the first answer.");
    line.option("command", arguments->command, "Command to run and its arguments, after --.").value("CMD");
    return [arguments] { return record(*arguments); };
}

}  // namespace

extern const Command kRecordCommand;
const Command kRecordCommand{"record",
                             "Record a program",
                             "[-o FILE] -- CMD...",
                             "Record kernels, copies, CUDA calls and NVTX ranges of CMD.",
                             declare,
                             [] {
                                 return std::vector<Choices>{{"--api", {"selected", "all"}},
                                                             {"--graph", {"node", "graph"}},
                                                             {"--trace", {"cuda", "nvtx", "cpu", "memory"}},
                                                             {"--cupti", {"share", "own", "yield"}},
                                                             {"--sample", {"pm", "pm:memory", "pm:sm"}}};
                             },
                             "command"};

}  // namespace gpuprof
