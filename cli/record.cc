// `record`: runs a command with the collector inside, merges what its processes left into one capture, and shows the first
// answer. The command is untouched: its streams, signals and exit status are its own, and nothing that goes wrong here
// reaches it.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/first_answer.h"
#include "cli/output.h"
#include "cli/program.h"
#include "collect/device/monitor.h"
#include "collect/device/sample_capture.h"
#include "collect/launch/injection.h"
#include "collect/launch/target.h"
#include "core/base/readable.h"
#include "core/exporters/exporter.h"
#include "core/importers/capture.h"
#include "core/importers/importer.h"

namespace gpuprof {
namespace {

struct Arguments {
    std::string output = "recording.gpuprof", api = "selected", graph = "node";
    double sample = 0.1;
    bool quiet = false;
    std::vector<std::string> command;
};

// Samples of the devices, taken beside the command in a process of their own, as one more part of the recording. Where
// there is nothing to sample the part is left out.
class DeviceSamples {
public:
    Status start(const SpoolFolder& folder, double interval) {
        if (interval <= 0) return {};
        file_ = folder.path() + "/samples.gpuprof";
        Result<std::unique_ptr<SampleCapture>> opened = SampleCapture::open(file_);
        if (!opened.ok()) return opened.error();
        capture_ = std::move(*opened);
        MonitorOptions options;
        options.request.devices = "all";
        options.request.interval = static_cast<DurNs>(interval * 1e9);
        options.start_timeout = -1;
        options.observer = capture_->observer();
        options.request.see_visible_devices();
        monitor_ = std::make_unique<Monitor>(std::move(options));
        return monitor_->start();
    }
    Status stop() {
        if (!monitor_) return {};
        monitor_->stop();
        bool any = !monitor_->devices().empty();
        Status written = capture_->close();
        if (!any) unlink(file_.c_str());
        return written;
    }

private:
    std::string file_;
    std::unique_ptr<SampleCapture> capture_;  // outlives the monitor, whose thread writes to it
    std::unique_ptr<Monitor> monitor_;
};

// All spool files as one trace.
Result<Trace> merge(const std::vector<std::string>& files, const std::string& name) {
    TraceBuilder builder(Origin{.file = name, .importer = "capture", .tool = "gpu-profile record"});
    for (const std::string& file : files) {
        Result<std::unique_ptr<Source>> source = open_source(file);
        if (!source.ok()) return source.error();
        if (Status status = import_capture(**source, builder); !status) return status.error();
    }
    return std::move(builder).finish();
}

Status write_capture_file(const Trace& trace, const std::string& file) {
    Result<Output> output = Output::open(file);
    if (!output.ok()) return output.error();
    Status written = find_exporter("capture")->run(trace, *output);
    Status closed = output->close();
    return closed ? written : closed;
}

bool is_of_a_process(const std::string& file) { return file.find("/samples.gpuprof") == std::string::npos; }

// What to tell when no process left anything.
std::string nothing_recorded() {
    return "nothing was recorded: the command used neither CUDA nor NVTX, or ended before it could be seen "
           "(gpu-profile doctor tells what works here)";
}

// Everything after the command has ended; its result does not depend on it.
Status conclude(const Arguments& arguments, SpoolFolder& folder) {
    std::vector<std::string> files = folder.files();
    auto processes = std::count_if(files.begin(), files.end(), is_of_a_process);
    if (processes == 0) return Error{ExitCode::empty, nothing_recorded()};
    Result<Trace> trace = merge(files, arguments.output);
    Status status = trace.ok() ? write_capture_file(*trace, arguments.output) : trace.error();
    if (!status) {
        std::string kept = folder.path();
        folder.keep();
        return Error{status.error().code,
                     fmt::format("{}; the parts of the recording are in {}, each of which gpu-profile "
                                 "report reads",
                                 status.error().message, kept)};
    }
    note(fmt::format("{} process{} recorded in {}", processes, processes == 1 ? "" : "es", arguments.output));
    if (arguments.quiet) return {};
    Result<std::string> answer = first_answer_text(*trace);
    if (!answer.ok()) return answer.error();
    fmt::print(stderr, "{}", *answer);
    return {};
}

Result<ExitCode> record(const Arguments& arguments) {
    if (arguments.command.empty())
        return Error{ExitCode::usage, "no command to run; gpu-profile record [OPTIONS] -- COMMAND [ARGUMENT...]"};
    Target target;
    std::string library = injected_library();
    if (library.empty())
        return Error{ExitCode::internal, "libgpuprof_inject.so was not found beside the program; install it again"};
    Result<SpoolFolder> folder = SpoolFolder::make(arguments.output);
    if (!folder.ok()) return folder.error();
    InjectionOptions options{.all_api = arguments.api == "all", .graph_level = arguments.graph == "graph"};
    for (const std::string& remark : set_injection(library, *folder, options)) note(remark);
    DeviceSamples samples;
    if (Status sampling = samples.start(*folder, arguments.sample); !sampling) note(sampling.error().message);
    if (Status started = target.start(arguments.command); !started) return started.error();
    TargetEnd end = target.wait();
    if (Status sampled = samples.stop(); !sampled) note(sampled.error().message);
    {
        SpoolFolder spool = std::move(*folder);
        if (Status concluded = conclude(arguments, spool); !concluded) note(concluded.error().message);
    }
    end_like(end);
}

std::function<Result<ExitCode>()> declare(CLI::App& app) {
    auto arguments = std::make_shared<Arguments>();
    app.add_option("-o,--output", arguments->output, "The capture to write.")->type_name("FILE")->capture_default_str();
    app.add_option("--api", arguments->api,
                   "CUDA calls to record: selected (launches, copies, synchronisation, memory, modules) or all.")
        ->check(CLI::IsMember({"selected", "all"}))
        ->type_name("WHICH");
    app.add_option("--graph", arguments->graph, "CUDA graphs: node (every kernel) or graph (every launch).")
        ->check(CLI::IsMember({"node", "graph"}))
        ->type_name("LEVEL");
    app.add_option("--sample", arguments->sample,
                   "Seconds between samples of the GPUs (utilisation, memory, power, ...); 0 takes none.")
        ->check(CLI::Range(0.0, 3600.0))
        ->type_name("S")
        ->capture_default_str();
    app.add_flag("--quiet", arguments->quiet, "Do not show the first answer.");
    app.add_option("command", arguments->command, "The command and its arguments, after --.")->type_name("CMD");
    return [arguments] { return record(*arguments); };
}

}  // namespace

extern const Command kRecordCommand;
const Command kRecordCommand{
    "record",
    "Where does the time go?",
    "[-o FILE] -- CMD...",
    "Record kernels, copies, CUDA calls and NVTX ranges of CMD.",
    declare,
    [] {
        return std::vector<Choices>{{"--api", {"selected", "all"}}, {"--graph", {"node", "graph"}}};
    }};

}  // namespace gpuprof
