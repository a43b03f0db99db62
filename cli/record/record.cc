// `record`: runs a command with the injected collector, merges the parts of its processes into one capture, and shows
// the first answer.
// The command keeps its streams, signals and exit status, and no failure here affects it.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/aggregate/aggregation.h"
#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/counters/counter_measurement.h"
#include "cli/counters/evaluate_counters.h"
#include "cli/doctor/probe.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/record/debug_environment.h"
#include "cli/record/output_name.h"
#include "cli/record/record_injection.h"
#include "cli/record/record_os_calls.h"
#include "cli/record/record_slow_steps.h"
#include "cli/record/recording_parts.h"
#include "cli/record/run_recording.h"
#include "cli/record/warp_samples.h"
#include "cli/report/report_command.h"
#include "collect/launch/injection.h"
#include "collect/launch/target.h"
#include "core/base/caught.h"
#include "core/base/host_name.h"
#include "core/base/text/readable.h"
#include "core/base/text/shell_words.h"
#include "core/format/control.h"
#include "core/model/meta_values.h"
#include "core/schema/job_place.h"

namespace gpuprof::inline cli {
namespace {

constexpr const char* kUsualName = "recording.gpuprof";

struct RecordArguments {
    std::string output;
    bool force = false;
    std::string parts;  // a folder for them
    std::string merge;  // a folder of parts; then no command runs
    InjectionArguments injection;
    std::string max_size;
    double python = 0;  // Hz; 0: no stacks
    bool quiet = false;
    MeasurementOptions counters;  // no set: device work is recorded
    WarpSampleArguments stalls;
    DebugEnvArguments debug_env;
    OsCallArguments os_calls;
    bool scheduling = false;
    SlowStepArguments slow_steps;
    std::vector<std::string> sample, command;
};

// Explains a recording without data from the library: what was not seen, and which GPU software is missing.
std::string nothing_seen() {
    std::string missing;
    for (const Check& check : check_for_recording())
        if (check.health == Health::missing) missing += fmt::format("{}{}", missing.empty() ? "" : "; ", check.found);
    return fmt::format("neither CUDA nor NVTX was used{}",
                       missing.empty() ? "" : fmt::format(" (on this machine: {})", missing));
}

// The sampler of counters began before the program, and could not know which CUPTI that would use.
void note_other_cupti(const Trace& trace) {
    for (std::string_view sampled : meta_values(trace, "counters.cupti"))
        for (std::string_view mapped : meta_values(trace, "cupti_path")) {
            std::error_code failed;
            if (std::filesystem::equivalent(sampled, mapped, failed) || failed) continue;
            return note(
                fmt::format("counters over time were sampled with {}, but the program uses {}; set "
                            "GPUPROF_CUPTI to that one if they look wrong",
                            sampled, mapped));
        }
}

// Shows one line about the recording, and the first answer.
Status show(const RecordArguments& arguments, Trace trace, std::size_t seen) {
    std::size_t processes = seen > 0 ? seen : trace.tables().process.rows;
    note(fmt::format("{} process{} recorded in {}{}", processes, processes == 1 ? "" : "es", arguments.output,
                     seen > 0 ? ""
                              : fmt::format("; {}; gpu-profile report {} cpu shows CPU use", nothing_seen(),
                                            shell_quoted_file(arguments.output))));
    std::vector<std::string> about_steps = about_slow_steps(
        trace, arguments.output, arguments.slow_steps.wanted(arguments.injection.recorder) && seen > 0);
    for (const std::string& line : about_steps) note(line);
    bool nothing_kept = !about_steps.empty() && trace.window().length() == 0;
    if (arguments.quiet || seen == 0 || nothing_kept) return {};
    Result<std::string> answer = first_answer_text(std::move(trace));
    if (!answer.ok()) return answer.error();
    fmt::print(stderr, "{}", *answer);
    return {};
}

// Everything after the end of the command; the exit status does not depend on it.
Status merge_and_show(const RecordArguments& arguments, RecordedRun& run, bool& written) {
    evaluate_counters(run.folder.path(), run.program, CounterPart::whole);
    attribute_samples(run.folder.path(), false);
    if (Status calls = write_os_calls(run.folder.path()); !calls) note(calls.error().message);
    Result<std::vector<std::string>> listed = list_parts(run.folder.path());
    if (!listed.ok()) return listed.error();
    const std::vector<std::string>& files = *listed;
    if (files.empty()) return Error{ExitCode::empty, "nothing was recorded"};
    Result<Trace> trace = merge_parts(own_facts(run), files, arguments.output, CodeFiles::open);
    Status status = trace.ok() ? write_recording(*trace, arguments.output) : trace.error();
    if (!status) return status;
    written = true;
    note_other_cupti(*trace);
    return show(arguments, std::move(*trace), processes_of(files));
}

// Whatever fails, memory too, the recording is complete or its parts are kept.
Status conclude(const RecordArguments& arguments, RecordedRun& run) {
    bool written = false;
    Status status = caught([&] { return merge_and_show(arguments, run, written); });
    if (status || written || status.error().code == ExitCode::empty) return status;
    std::string kept = run.folder.path();
    run.folder.keep();
    return Error{status.error().code,
                 fmt::format("{}; the parts of the recording are kept; merge them later with: {}",
                             status.error().message, keep_for_merging(own_facts(run), kept, arguments.output))};
}

// `record --merge`: merges the parts of an interrupted recording.
Result<ExitCode> merge_kept(RecordArguments arguments) {
    if (!arguments.command.empty())
        return Error{ExitCode::usage, "--merge does not run a command; remove -- and the words after it"};
    Result<std::string> file =
        capture_file({arguments.output, kUsualName, arguments.force}, std::span(&arguments.merge, 1));
    if (!file.ok()) return file.error();
    arguments.output = *file;
    if (Status known = check_parts(arguments.merge); !known) return known.error();
    evaluate_counters(arguments.merge, "", CounterPart::whole);
    attribute_samples(arguments.merge, false);
    recover_logs(arguments.merge);
    if (Status written = write_os_calls(arguments.merge); !written) return written.error();
    Result<std::vector<std::string>> listed = list_parts(arguments.merge);
    if (!listed.ok()) return listed.error();
    const std::vector<std::string>& files = *listed;
    if (files.empty())
        return Error{ExitCode::unreadable,
                     fmt::format("cannot merge '{}': it contains no parts of a recording", arguments.merge)};
    Result<Trace> trace =
        merge_parts({}, files, arguments.output, is_private(arguments.merge) ? CodeFiles::open : CodeFiles::closed);
    if (!trace.ok()) return trace.error();
    if (Status written = write_recording(*trace, arguments.output); !written) return written.error();
    if (Status shown = show(arguments, std::move(*trace), processes_of(files)); !shown) return shown.error();
    note(fmt::format("the parts are no longer needed; remove them with: rm -r {}", shell_quoted_file(arguments.merge)));
    return ExitCode::ok;
}

// Adds the plan of --counters.
Status plan_counters(const RecordArguments& arguments, RecordingRequest& request) {
    if (arguments.counters.set.empty() && !arguments.counters.kernel.empty())
        return Error{ExitCode::usage, "--kernel selects kernels for --counters; add --counters SET"};
    if (arguments.counters.set.empty()) return {};
    if (!request.injection.cuda) return Error{ExitCode::usage, "--counters needs CUDA; add cuda to --trace"};
    Result<Measurement> measurement = plan_measurement(arguments.counters, arguments.command.front());
    if (!measurement.ok()) return measurement.error();
    for (const std::string& remark : measurement->remarks) note(remark);
    request.counter_plan = measurement->encoded({});
    request.cupti = measurement->reply.cupti;
    return {};
}

Status check_stalls(const RecordArguments& arguments, RecorderSettings& recorder) {
    if (arguments.stalls.stalls && !arguments.counters.set.empty())
        return Error{
            ExitCode::usage,
            "--stalls and --counters need the same hardware; record with one of them, or use gpu-profile counters "
            "--set SET --stalls, which runs the command once for each"};
    if (arguments.stalls.stalls && !arguments.injection.traces("cuda"))
        return Error{ExitCode::usage, "--stalls needs CUDA; add cuda to --trace"};
    return apply_warp_samples(arguments.stalls, recorder);
}

// What `given`, --standby or --aggregate, cannot have: what would keep a recording of all the time, or decides itself when to record.
Status check_mode(const RecordArguments& arguments, const char* given) {
    const RecorderSettings& recorder = arguments.injection.recorder;
    const std::pair<bool, const char*> excluded[] = {
        {recorder.standby && recorder.aggregate, "--aggregate"},
        {!arguments.injection.range.empty(), "--capture-range"},
        {!arguments.injection.steps.empty(), "--steps"},
        {recorder.delay_ns > 0, "--delay"},
        {recorder.duration_ns > 0, "--duration"},
        {recorder.keep_slow > 0, "--keep-slow"},
        {arguments.slow_steps.trigger.has_value(), "--trigger"},
        {!arguments.counters.set.empty(), "--counters"},
        {arguments.stalls.stalls, "--stalls"},
        {arguments.debug_env.groups.has_value(), "--debug-env"},
        {arguments.os_calls.least.has_value(), "--os-calls"},
        {arguments.scheduling, "--scheduling"},
        {recorder.keep_last_ns == 0 && !arguments.max_size.empty(), "--max-size"},
        {recorder.aggregate && recorder.memory, "--memory"},
        {recorder.aggregate && recorder.launch_stacks, "--launch-stacks"},
        {recorder.aggregate && arguments.python > 0, "--python"},
        {recorder.aggregate && !arguments.sample.empty(), "--sample"}};
    for (const auto& [used, option] : excluded)
        if (used)
            return Error{
                ExitCode::usage,
                fmt::format("{} and {} exclude each other; {}", given, option,
                            recorder.standby ? "gpu-profile trigger says when to record"
                                             : "--aggregate keeps totals of kernels, copies and idle time only")};
    constexpr DurNs kMostKept = control::kMaxWindowNs;
    if (recorder.keep_last_ns > kMostKept)
        return Error{ExitCode::usage, fmt::format("{} keeps at most the last {} s", given, kMostKept / kSecond)};
    if (arguments.output.empty())
        return Error{ExitCode::usage, fmt::format("{} needs -o DIR, a folder for the {}", given,
                                                  recorder.standby ? "captures" : "totals")};
    return {};
}

// The folder of -o, absolute, after making it with `below`.
Result<std::string> make_folder(const std::string& output, const char* below) {
    std::error_code failed;
    std::string folder = std::filesystem::absolute(output, failed).lexically_normal().string();
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    std::filesystem::create_directories(folder + below, failed);
    if (failed)
        return Error{ExitCode::not_permitted,
                     fmt::format("cannot create folder {}: {}", shell_quoted_file(folder), failed.message())};
    return folder;
}

RecordingRequest request_into(const RecordArguments& arguments, const std::string& output, InjectionOptions options,
                              SampleOption sample) {
    return {.output = output,
            .parts = arguments.parts,
            .injection = std::move(options),
            .sample = std::move(sample),
            .python = arguments.python,
            .cpu_use = arguments.injection.traces("cpu"),
            .progress = false,
            .max_size = arguments.max_size,
            .counter_plan = {},
            .cupti = {},
            .command = arguments.command};
}

// With --keep-last, what a command that failed did last is worth keeping.
void note_captures(RecordedRun& run, const std::string& folder) {
    note(fmt::format("{} in {}", readable_count(run.standby.captures, "capture"), shell_quoted_file(folder)));
    std::vector<std::string> left = run.standby.left;
    bool failed = run.settings.keep_last_ns > 0 && run.end.shell_status() != 0;
    if (failed) left.push_back(run.folder.path());
    for (const std::string& each : left)
        note(fmt::format("{} is kept; merge it with: gpu-profile record --merge {} -o FILE",
                         failed ? "what was recorded last" : "what a capture lacks", shell_quoted_file(each)));
    if (!left.empty()) run.folder.keep();
}

// `record --standby`: the captures are made while the command runs.
Result<ExitCode> record_in_standby(RecordArguments& arguments) {
    if (Status possible = check_mode(arguments, "--standby"); !possible) return possible.error();
    Result<SampleOption> sample = parse_sample_option(arguments.sample);
    if (!sample.ok()) return sample.error();
    if (sample->counters) return Error{ExitCode::usage, "--standby and --sample pm exclude each other"};
    Result<InjectionOptions> options = injection_options(arguments.injection);
    if (!options.ok()) return options.error();
    options->annotation = arguments.slow_steps.step_range;
    Result<std::string> folder = make_folder(arguments.output, "/standby");
    if (!folder.ok()) return folder.error();
    RecordingRequest request = request_into(arguments, *folder + "/standby", *options, *sample);
    request.standby = *folder;
    Target target;
    Result<RecordedRun> run = run_recorded(target, request);
    if (!run.ok()) return run.error();
    note_captures(*run, *folder);
    TargetExit end = run->end;
    { RecordedRun finished = std::move(*run); }
    exit_like(end);
}

// `record --aggregate`: totals of the command while it runs, and no recording.
Result<ExitCode> record_totals(RecordArguments& arguments) {
    if (Status possible = check_mode(arguments, "--aggregate"); !possible) return possible.error();
    Result<InjectionOptions> options = injection_options(arguments.injection);
    if (!options.ok()) return options.error();
    options->annotation = arguments.slow_steps.step_range;
    bool keeps =
        options->recorder.keep_last_ns > 0;  // captures of the last minutes are made of the parts that were read
    Result<std::string> folder = make_folder(arguments.output, keeps ? "/standby" : "");
    if (!folder.ok()) return folder.error();
    RecordingRequest request = request_into(arguments, *folder + "/totals", *options, {});
    request.aggregate = *folder;
    if (keeps) request.standby = *folder;
    Target target;
    Result<RecordedRun> run = run_recorded(target, request);
    if (!run.ok()) return run.error();
    if (keeps) note_captures(*run, *folder);
    TargetExit end = run->end;
    { RecordedRun finished = std::move(*run); }
    exit_like(end);
}

// `record --aggregate --merge`: the totals of the parts of an interrupted recording.
Result<ExitCode> add_up_kept(const RecordArguments& arguments) {
    if (Status possible = check_mode(arguments, "--aggregate"); !possible) return possible.error();
    if (Status known = check_parts(arguments.merge); !known) return known.error();
    Result<std::string> folder = make_folder(arguments.output, "");
    if (!folder.ok()) return folder.error();
    Result<Aggregation> aggregation = Aggregation::open(*folder);
    if (!aggregation.ok()) return aggregation.error();
    if (Status read = aggregation->read_all(arguments.merge, Aggregation::Parts::kept); !read) return read.error();
    note(fmt::format("totals in {}", shell_quoted_file(aggregation->file())));
    return ExitCode::ok;
}

Result<ExitCode> record(RecordArguments arguments) {
    if (!arguments.merge.empty() && arguments.injection.recorder.aggregate) return add_up_kept(arguments);
    if (!arguments.merge.empty()) return merge_kept(std::move(arguments));
    if (arguments.command.empty())
        return Error{ExitCode::usage,
                     "no command to run; usage: gpu-profile record [OPTIONS] -- COMMAND [ARGUMENT...]"};
    if (arguments.injection.recorder.standby) return record_in_standby(arguments);
    if (arguments.injection.recorder.aggregate) return record_totals(arguments);
    bool reserve = has_variables(arguments.output);
    if (reserve) {
        JobPlace place = find_job_place([](const char* name) { return std::getenv(name); });
        Result<std::string> name = expand_name(arguments.output, name_variables(place, host_name()));
        if (!name.ok()) return name.error();
        arguments.output = *name;
    }
    // names with variables are never overwritten
    Result<std::string> file =
        capture_file({arguments.output, kUsualName, arguments.force || reserve}, arguments.command);
    if (!file.ok()) return file.error();
    arguments.output = *file;
    Result<SampleOption> sample = parse_sample_option(arguments.sample);
    if (!sample.ok()) return sample.error();
    Result<InjectionOptions> options = injection_options(arguments.injection);
    if (!options.ok()) return options.error();
    if (Status stalls = check_stalls(arguments, options->recorder); !stalls) return stalls.error();
    Result<std::int64_t> os_calls = os_calls_least_ns(arguments.os_calls);
    if (!os_calls.ok()) return os_calls.error();
    options->recorder.os_calls_ns = *os_calls;
    if (arguments.slow_steps.wanted(arguments.injection.recorder) && !arguments.counters.set.empty())
        return Error{ExitCode::usage, "--counters records no steps; --keep-slow and --trigger need a recording"};
    if (Status steps = apply_slow_steps(arguments.slow_steps, *options); !steps) return steps.error();
    Result<std::vector<std::string>> groups = debug_groups(arguments.debug_env);
    if (!groups.ok()) return groups.error();
    RecordingRequest request{.output = arguments.output,
                             .parts = arguments.parts,
                             .injection = *options,
                             .sample = *sample,
                             .python = arguments.python,
                             .cpu_use = arguments.injection.traces("cpu"),
                             .scheduling = arguments.scheduling,
                             .progress = !arguments.quiet,
                             .max_size = arguments.max_size,
                             .counter_plan = {},
                             .cupti = {},
                             .debug_groups = *groups,
                             .command = arguments.command};
    if (Status planned = plan_counters(arguments, request); !planned) return planned.error();
    std::optional<ReservedName> reserved;
    if (reserve) {
        Result<ReservedName> held = ReservedName::reserve(arguments.output);
        if (!held.ok()) return held.error();
        reserved.emplace(std::move(*held));
    }
    if (arguments.stalls.stalls)
        note(
            "kernels run one after the other while warps are sampled, because CUPTI does not trace concurrent kernels "
            "then; gpu-profile counters --stalls samples in a run of its own");
    Target target;
    Result<RecordedRun> run = run_recorded(target, request);
    if (!run.ok()) return run.error();
    TargetExit end = run->end;
    {
        RecordedRun finished = std::move(*run);
        std::optional<ReservedName> name = std::move(reserved);
        note_failure(caught([&] { return conclude(arguments, finished); }));
    }
    exit_like(end);
}

std::function<Result<ExitCode>()> declare_record(CommandLine& line) {
    auto arguments = std::make_shared<RecordArguments>();
    line.option("-o,--output", arguments->output,
                "Capture to write; {rank}, {host}, {job} and other variables are replaced (default: recording.gpuprof, "
                "which is "
                "overwritten).")
        .value("FILE");
    line.flag("--force", arguments->force, "Overwrite the capture that -o names, if it exists.");
    declare_injection(line, arguments->injection);
    line.option(
            "--sample", arguments->sample,
            "Interval between GPU samples (utilisation, memory, power, ...) in seconds, 0-3600; 0 is none (default: "
            "0.1). Or pm[:SET][@HZ]: hardware counters over time, with set default, memory or sm, at 1-50000 Hz. "
            "May be given once for each.")
        .one_value_per_use()
        .suggest(std::vector{"pm", "pm:memory", "pm:sm"})
        .value("S|pm");
    line.option("--counters", arguments->counters.set,
                "Measure these counters of the first launches of each kernel instead of recording device work: a set "
                "or metrics; gpu-profile counters --list-sets lists the sets.")
        .value("SET");
    line.option("--kernel", arguments->counters.kernel,
                "With --counters: only kernels whose names match this regular expression.")
        .value("REGEX");
    declare_warp_samples(line, arguments->stalls);
    declare_debug_env(line, arguments->debug_env);
    declare_os_calls(line, arguments->os_calls);
    line.flag("--scheduling", arguments->scheduling,
              "Record when each thread ran on which CPU, and when it was preempted; needs permission for perf events.");
    declare_slow_steps(line, arguments->slow_steps);
    line.option("--python", arguments->python,
                "Sample the Python stacks of all processes at this rate in Hz, 0.1-1000 (default: off).")
        .range(0.1, 1000.0)
        .value("HZ");
    line.option("--max-size", arguments->max_size,
                "Stop recording when the parts reach this size, such as 2GiB; the command continues.")
        .value("BYTES");
    line.option(
            "--parts", arguments->parts,
            "Folder for the parts while the command runs (default: that of the capture; if that is on a network file "
            "system, TMPDIR, /var/tmp or /tmp).")
        .value("FOLDER");
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
                             declare_record,
                             "command"};

}  // namespace gpuprof::cli
