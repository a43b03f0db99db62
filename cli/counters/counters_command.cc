// `counters`: measures hardware counters of single kernels, and samples warps. Runs the command several times: the first
// run is a recording, which shows which kernels matter; the second replays these kernels; one more samples warps, which
// needs the same hardware. One capture holds all of them.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/counters/chosen_kernels.h"
#include "cli/counters/counter_measurement.h"
#include "cli/counters/evaluate_counters.h"
#include "cli/counters/list.h"
#include "cli/output.h"
#include "cli/record/recording_parts.h"
#include "cli/record/run_recording.h"
#include "cli/record/warp_samples.h"
#include "collect/counters/clock_lock.h"
#include "collect/counters/counter_catalogue.h"
#include "collect/counters/source_set.h"
#include "core/base/text/shell_words.h"
#include "core/model/meta_values.h"

namespace gpuprof::inline cli {
namespace {

struct CountersArguments {
    MeasurementOptions options;
    std::string output, keep, chip;
    bool force = false;
    bool list_sets = false, list_metrics = false;
    bool counted = true;  // whether counters are measured; false with --stalls alone
    WarpSampleArguments stalls;
    std::vector<std::string> command;
};

// The runs of the command: the first one shows which kernels matter.
enum class Pass { trace, counters, stalls };

InjectionOptions injection(Pass pass, const CountersArguments& arguments) {
    const MeasurementOptions& options = arguments.options;
    InjectionOptions injection;
    if (pass == Pass::stalls) {
        (void)apply_warp_samples(arguments.stalls, injection.recorder);  // checked before the first run
        injection.recorder.stalls_only = true;
    }
    if (pass == Pass::trace || options.range.empty()) return injection;
    injection.recorder.range = CaptureRange::nvtx;
    injection.annotation = options.range.substr(options.range.find(':') + 1);
    return injection;
}

RecordingRequest request_of(Pass pass, const CountersArguments& arguments, const std::string& plan = "",
                            const std::string& cupti = "") {
    SampleOption sample;
    if (pass != Pass::trace) sample.device_interval = 0;
    return {.output = arguments.output,
            .injection = injection(pass, arguments),
            .sample = sample,
            .python = 0,
            .cpu_use = false,
            .progress = true,
            .max_size = {},
            .counter_plan = plan,
            .cupti = cupti,
            .command = arguments.command};
}

// Those with kernels.
std::vector<counters::TracedProcess> processes_of(const Trace& trace) {
    const KernelTable& kernels = trace.kernel();
    std::set<StringId> keys;
    for (Row row = 0; row < kernels.rows; ++row)
        if (kernels.process.has(row)) keys.insert(kernels.process[row]);
    const ProcessTable& table = trace.tables().process;
    std::vector<counters::TracedProcess> processes;
    for (Row row = 0; row < table.rows; ++row)
        if (keys.count(table.key[row]) != 0)
            processes.push_back({std::string(trace.text(table.key[row])), table.rank.value_or(row, -1)});
    return processes;
}

// The plan of the second run; an error if there is nothing to measure.
Result<std::string> choose(const Trace& trace, const Measurement& measurement) {
    if (!measurement.options.range.empty()) {
        note(fmt::format("measuring {} in one pass, at most {} times", measurement.options.range,
                         measurement.options.launches));
        return measurement.encoded({});
    }
    ChoiceLimits limits{.pattern = measurement.options.kernel,
                        .launches = measurement.options.launches,
                        .skip = measurement.options.skip,
                        .passes = measurement.set().passes,
                        .budget = static_cast<DurNs>(measurement.options.budget_s * 1e9)};
    Result<KernelChoices> choices = choose_kernels(trace, limits);
    if (!choices.ok()) return choices.error();
    fmt::print(stderr, "gpu-profile: {}", describe(*choices, limits));
    if (choices->chosen.empty())
        return Error{ExitCode::empty,
                     trace.kernel().rows == 0
                         ? "no kernels to measure: the command ran none, or they could not be recorded"
                         : "no kernels to measure: check --kernel and --skip against gpu-profile report FILE kernels"};
    return measurement.encoded(choices->chosen);
}

// Copies what the second run left: the plan, the images and the values. With the same CUPTI the images can be evaluated
// anywhere, up to 13.1 without a driver: record --merge FOLDER, after removing the values.
Status keep_images(const RecordedRun& run, const std::string& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (!failed)
        std::filesystem::copy(
            run.folder.path(), folder,
            std::filesystem::copy_options::overwrite_existing | std::filesystem::copy_options::recursive, failed);
    if (!failed) return {};
    return Error{ExitCode::usage, fmt::format("cannot keep the images in {}: {}", folder, failed.message())};
}

// All runs of one command.
struct Runs {
    std::vector<RecordedRun> runs;

    RecordedRun& first() { return runs.front(); }
    // The end of the last run decides the exit status.
    [[noreturn]] void end_like_last() {
        TargetExit end = runs.back().end;
        runs.clear();
        exit_like(end);
    }
};

// Joins the parts of the first run and what the others measured.
Status conclude(const CountersArguments& arguments, Runs& all) {
    std::vector<std::string> files = all.first().folder.files();
    for (std::size_t i = 1; i < all.runs.size(); ++i)
        for (const std::string& file : all.runs[i].folder.files())
            if (is_counter_part(file) || is_sample_part(file)) files.push_back(file);
    Result<Trace> trace = merge_parts(own_facts(all.first()), files, arguments.output, CodeFiles::open);
    if (!trace.ok()) return trace.error();
    if (Status written = write_recording(*trace, arguments.output); !written) return written;
    note(fmt::format("written to {}; gpu-profile report {} {}", arguments.output, shell_quoted_file(arguments.output),
                     arguments.counted && arguments.options.set != counters::kSourceSet
                         ? "limits says what holds each kernel back"
                         : "source shows the lines at which warps wait and memory accesses are wasted"));
    return {};
}

// One more run of the command, with what it measured evaluated. Its end decides whether another one follows.
Status add_run(Target& target, Runs& all, const CountersArguments& arguments, const RecordingRequest& request,
               const std::vector<counters::TracedProcess>& processes) {
    Result<RecordedRun> measured = run_recorded(target, request);
    if (!measured.ok()) return measured.error();
    all.runs.push_back(std::move(*measured));
    const RecordedRun& run = all.runs.back();
    if (!request.counter_plan.empty())
        evaluate_counters(run.folder.path(), run.program, CounterPart::with_trace, processes);
    if (request.counter_plan.empty() || arguments.options.set == counters::kSourceSet)
        attribute_samples(run.folder.path(), true, processes);
    if (arguments.keep.empty()) return {};
    std::string folder =
        request.counter_plan.empty() && arguments.counted ? arguments.keep + "/stalls" : arguments.keep;
    if (Status kept = keep_images(run, folder); !kept) note(kept.error().message);
    return {};
}

// The program decides which CUPTI measures: the one that it mapped in the first run. A plan made with another one is made again.
Status follow_cupti_of(const Trace& trace, std::optional<Measurement>& measurement) {
    for (std::string_view mapped : meta_values(trace, "cupti_path")) {
        std::error_code failed;
        if (std::filesystem::equivalent(mapped, measurement->reply.cupti, failed) || failed) continue;
        Result<Measurement> planned = plan_measurement(measurement->options, std::string(mapped));
        if (!planned.ok()) return planned.error();
        if (!std::filesystem::equivalent(mapped, planned->reply.cupti, failed))
            return Error{ExitCode::empty,
                         fmt::format("cannot measure counters: the program uses {}, but they can only be planned with "
                                     "{}; set GPUPROF_CUPTI to a CUPTI that both can use",
                                     mapped, planned->reply.cupti)};
        note(fmt::format("measuring with the program's own CUPTI, {}", mapped));
        measurement = std::move(*planned);
        return {};
    }
    return {};
}

// Null if no clocks are to be locked. Another tool's lock stays, and is recorded as such.
Result<std::unique_ptr<counters::ClockLock>> lock_clocks(Measurement& measurement) {
    const std::string& mode = measurement.options.clock;
    if (mode == "none") return std::unique_ptr<counters::ClockLock>();
    Result<std::unique_ptr<counters::ClockLock>> lock = counters::ClockLock::take(measurement.reply.cupti, mode);
    if (!lock.ok()) return lock.error();
    measurement.locked = (*lock)->external() ? "external" : mode;
    if ((*lock)->external()) note("another tool has locked the clocks; they stay as they are");
    return lock;
}

Result<ExitCode> measure(CountersArguments arguments) {
    Result<std::string> file = capture_file({arguments.output, "counters.gpuprof", arguments.force}, arguments.command);
    if (!file.ok()) return file.error();
    arguments.output = *file;
    RecorderSettings ignored;
    if (Status stalls = apply_warp_samples(arguments.stalls, ignored); !stalls) return stalls.error();
    std::optional<Measurement> measurement;
    if (arguments.counted) {
        Result<Measurement> planned = plan_measurement(arguments.options, arguments.command.front());
        if (!planned.ok()) return planned.error();
        for (const std::string& remark : planned->remarks) note(remark);
        measurement = std::move(*planned);
    }
    Target target;
    note("first run: recording which kernels take the time");
    Runs all;
    Result<RecordedRun> recorded = run_recorded(target, request_of(Pass::trace, arguments));
    if (!recorded.ok()) return recorded.error();
    all.runs.push_back(std::move(*recorded));
    if (all.first().end.failed()) {
        note("the command failed, so nothing was measured");
        all.end_like_last();
    }
    Result<Trace> trace =
        merge_parts(own_facts(all.first()), all.first().folder.files(), arguments.output, CodeFiles::open);
    if (!trace.ok()) return trace.error();
    std::vector<counters::TracedProcess> processes = processes_of(*trace);
    Status status;
    if (measurement) status = follow_cupti_of(*trace, measurement);
    if (!status) return status.error();
    if (measurement) {
        Result<std::unique_ptr<counters::ClockLock>> clocks = lock_clocks(*measurement);
        if (!clocks.ok()) return clocks.error();
        Result<std::string> plan = choose(*trace, *measurement);
        if (!plan.ok()) return plan.error();
        note("second run: measuring");
        status = add_run(target, all, arguments, request_of(Pass::counters, arguments, *plan, measurement->reply.cupti),
                         processes);
    }
    if (status && arguments.stalls.stalls && !all.runs.back().end.failed()) {
        note(fmt::format("{} run: sampling warps", measurement ? "third" : "second"));
        status =
            add_run(target, all, arguments,
                    request_of(Pass::stalls, arguments, "", measurement ? measurement->reply.cupti : ""), processes);
    }
    if (!status && all.runs.size() == 1) return status.error();
    if (!status) note(status.error().message);
    if (Status concluded = conclude(arguments, all); !concluded) note(concluded.error().message);
    all.end_like_last();
}

Result<ExitCode> plan_for_chip(const std::string& name, const std::string& set) {
    std::string chip = name == "this" ? "" : name;
    return set.empty() ? plan_sets_for_chip(chip) : plan_metrics_for_chip(chip, set);
}

Result<ExitCode> counters_command(const CountersArguments& arguments, bool asks_for_chip, bool chooses_set) {
    if (arguments.list_sets) return list_counter_sets();
    if (arguments.list_metrics) return list_counter_metrics(arguments.chip);
    if (asks_for_chip) return plan_for_chip(arguments.chip, chooses_set ? arguments.options.set : "");
    if (arguments.command.empty())
        return Error{ExitCode::usage,
                     "no command to run; usage: gpu-profile counters [OPTIONS] -- COMMAND [ARGUMENT...]"};
    return measure(arguments);
}

void declare_limits(CommandLine& line, MeasurementOptions& options) {
    line.option("--launches", options.launches, "Launches to measure of each kernel and shape, 1-1000 (default: 3).")
        .integer_range(1, 1000)
        .value("N");
    line.option("--skip", options.skip, "First launches of each kernel to skip, as warm-up (default: 0).")
        .integer_range(0, 1'000'000'000)
        .value("N");
    line.number_option(
            "--budget", [&options](double s) { options.budget_s = s; },
            "Maximum time spent in replays, per process, in seconds; 0 is unlimited (default: 30).")
        .seconds(0, 1e6)
        .value("S");
    line.number_option(
            "--hang", [&options](double s) { options.hang_s = s; },
            "A replay that takes this much longer than expected ends the program, in seconds (default: 60).")
        .seconds(1, 1e6)
        .value("S");
}

std::vector<std::string_view> set_names() {
    std::vector<std::string_view> names;
    for (const counters::MetricSet& set : counters::metric_sets()) names.push_back(set.name);
    names.push_back(counters::kSourceSet);
    return names;
}

std::function<Result<ExitCode>()> declare_counters(CommandLine& line) {
    auto arguments = std::make_shared<CountersArguments>();
    MeasurementOptions& options = arguments->options;
    options.set = "sol";
    line.option("-o,--output", arguments->output, "Capture to write (default: counters.gpuprof, which is overwritten).")
        .value("FILE");
    line.flag("--force", arguments->force, "Overwrite the capture that -o names, if it exists.");
    line.option("--set", options.set,
                "Set of counters, or metrics separated by commas (default: sol); --list-sets lists the sets.")
        .suggest(set_names())
        .value("SET");
    line.option("--kernel", options.kernel, "Measure only kernels whose names match this regular expression.")
        .value("REGEX");
    declare_limits(line, options);
    line.option("--range", options.range,
                "Measure everything inside this NVTX range in one pass, without replay, instead of single kernels.")
        .value("nvtx:NAME");
    line.option("--cache", options.cache, "Caches before each pass: warm (as they are) or flush (default: warm).")
        .one_of({"warm", "flush"})
        .value("MODE");
    line.option("--clock", options.clock, "Clocks to lock while measuring: none, base or boost (default: none).")
        .one_of({"none", "base", "boost"})
        .value("CLOCK");
    declare_warp_samples(line, arguments->stalls);
    line.option("--keep", arguments->keep,
                "Also keep CUPTI's images, and what is needed to evaluate them, in this folder.")
        .value("FOLDER");
    line.flag("--list-sets", arguments->list_sets, "List the sets of counters.");
    line.flag("--list-metrics", arguments->list_metrics, "List all metrics of the GPU, or of the chip of --plan-for.");
    line.option(
            "--plan-for", arguments->chip,
            "Show how many passes each set, or each metric of --set, needs on this chip, such as GH100; `this` is the "
            "GPU of this machine.")
        .value("CHIP");
    line.option("command", arguments->command, "Command to run and its arguments, after --.").value("CMD");
    return [arguments, &line] {
        arguments->counted = !arguments->stalls.stalls || line.given("--set");
        return counters_command(*arguments, line.given("--plan-for"), line.given("--set"));
    };
}

}  // namespace

extern const Command kCountersCommand;
const Command kCountersCommand{
    "counters",       "Record a program", "[--set SET] -- CMD...", "Measure hardware counters of the kernels of CMD.",
    declare_counters, "command"};

}  // namespace gpuprof::cli
