#include "cli/record/run_recording.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/aggregate/aggregation.h"
#include "cli/output.h"
#include "cli/record/companions.h"
#include "cli/record/debug_environment.h"
#include "cli/record/record_os_calls.h"
#include "cli/record/recording_parts.h"
#include "cli/record/standby.h"
#include "collect/launch/injection.h"
#include "core/base/boot_id.h"
#include "core/base/caught.h"
#include "core/base/clock.h"
#include "core/base/host_name.h"
#include "core/base/ids.h"
#include "core/base/text/command_line.h"
#include "core/base/text/readable.h"
#include "core/base/text/shell_words.h"
#include "core/format/counter_plan.h"
#include "core/schema/debug_env.h"
#include "core/schema/job_place.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline cli {
namespace {

// Watches a recording while the command runs: the size of its parts, and a line of progress. Runs in a separate thread,
// four times a second.
// The progress line appears only where it cannot mix with the command's output: if standard error is a terminal and
// standard output is not. It is redrawn at most once a second and erased at the end. The cursor stays at its beginning,
// so that the command's own standard error overwrites it.

struct WatchOptions {
    std::uint64_t max_bytes = 0;    // total size of all parts; 0: no limit
    bool progress = false;          // show progress if the terminal allows it
    std::function<void()> on_full;  // called once, in the watching thread, after the processes were told
};

class RecordingWatch {
public:
    RecordingWatch(const SpoolFolder& folder, WatchOptions options);
    ~RecordingWatch() { stop(); }
    void start();
    // Erases the progress line; further calls do nothing.
    void stop();
    // Time from start() until the parts reached their limit; absent if they did not.
    std::optional<DurNs> full_after() const { return full_after_; }

private:
    void run();
    void look();
    void draw(DurNs elapsed);

    const SpoolFolder& folder_;
    WatchOptions options_;
    bool draws_ = false, drawn_ = false;
    TimeNs started_ = 0, drawn_at_ = 0;
    std::uint64_t bytes_ = 0;
    std::optional<DurNs> full_after_;
    std::thread thread_;
    std::mutex mutex_;  // guards stopping_
    std::condition_variable wake_;
    bool stopping_ = false;
};

constexpr DurNs kCheckInterval = 250'000'000, kDrawInterval = 1'000'000'000;

void write_to_terminal(const std::string& text) {
    ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
    static_cast<void>(ignored);
}

// "recording 12 s, 3.40 MiB in 5 parts"
std::string progress_text(DurNs elapsed, std::uint64_t bytes, std::size_t parts) {
    return fmt::format("recording {} s, {} in {} part{}", elapsed / 1'000'000'000,
                       readable_bytes(static_cast<double>(bytes)), parts, parts == 1 ? "" : "s");
}

RecordingWatch::RecordingWatch(const SpoolFolder& folder, WatchOptions options)
    : folder_(folder), options_(std::move(options)) {
    draws_ = options_.progress && isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 0;
}

void RecordingWatch::start() {
    started_ = drawn_at_ = monotonic_ns();
    if (draws_ || options_.max_bytes > 0) thread_ = std::thread([this] { run(); });
}

void RecordingWatch::run() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::nanoseconds(kCheckInterval), [this] { return stopping_; })) {
        lock.unlock();
        (void)caught([this] { look(); });  // the next look may succeed
        lock.lock();
    }
}

void RecordingWatch::look() {
    DurNs elapsed = monotonic_ns() - started_;
    bytes_ = folder_.bytes();
    if (options_.max_bytes > 0 && bytes_ >= options_.max_bytes && !full_after_) {
        full_after_ = elapsed;
        folder_.report_disk_full();
        if (options_.on_full) options_.on_full();
    }
    if (draws_ && started_ + elapsed - drawn_at_ >= kDrawInterval) draw(elapsed);
}

void RecordingWatch::draw(DurNs elapsed) {
    drawn_ = true;
    drawn_at_ = started_ + elapsed;
    write_to_terminal(fmt::format("\r\033[K{}\r", progress_text(elapsed, bytes_, folder_.files().size())));
}

void RecordingWatch::stop() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (!thread_.joinable()) return;
    thread_.join();
    if (drawn_) write_to_terminal("\r\033[K");
}

std::string with_commas(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ",")); }

// The companions that could be prepared.
class Companions {
public:
    explicit Companions(const SpoolFolder& folder) : folder_(folder) {}
    void prepare(std::unique_ptr<Companion> companion) {
        note_failure(caught([&]() -> Status {
            Status status = companion->prepare(companion_part(folder_.path(), companion->name()));
            if (status) ready_.push_back(std::move(companion));
            return status;
        }));
    }
    // While the command runs, a failure ends what it concerns and nothing else.
    void started(pid_t target) noexcept {
        for (const auto& companion : ready_) note_failure(caught([&] { companion->started(target); }));
    }
    void ended() noexcept {
        std::lock_guard lock(mutex_);
        for (const auto& companion : ready_)
            if (!stopped_) note_failure(caught([&] { companion->ended(); }));
    }
    // Thread-safe; one call is enough.
    void stop() noexcept {
        std::lock_guard lock(mutex_);
        if (stopped_) return;
        for (const auto& companion : ready_) note_failure(caught([&] { companion->ask_to_stop(); }));
        for (const auto& companion : ready_)
            note_failure(caught([&] {
                if (Status status = companion->stop(); !status) remarks_.push_back(status.error().message);
                for (const std::string& remark : companion->remarks()) remarks_.push_back(remark);
            }));
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

// In standby each window has its own.
std::vector<std::unique_ptr<Companion>> window_companions(const RecordingRequest& request, const std::string& folder) {
    std::vector<std::unique_ptr<Companion>> companions;
    if (request.cpu_use) companions.push_back(record_cpu_use(folder, !request.injection.recorder.no_command_line));
    if (request.python > 0) companions.push_back(record_python(folder, request.python));
    if (request.sample.device_interval > 0) companions.push_back(record_devices(request.sample.device_interval));
    return companions;
}

void prepare(Companions& companions, const RecordingRequest& request, const SpoolFolder& folder) {
    if (!request.standby.empty() || !request.aggregate.empty()) return;
    const SampleOption& sample = request.sample;
    if (request.cpu_use) companions.prepare(record_cpu_use(folder.path(), !request.injection.recorder.no_command_line));
    if (request.python > 0) companions.prepare(record_python(folder.path(), request.python));
    if (sample.device_interval > 0) companions.prepare(record_devices(sample.device_interval));
    if (debug_env::wants_logs(with_commas(request.debug_groups))) companions.prepare(record_logs(folder.path()));
    if (sample.counters) companions.prepare(record_counters(sample, request.command.front()));
    if (request.scheduling) companions.prepare(record_scheduling());
}

// Absent if the library is not needed or cannot be preloaded; a note reports the latter.
std::optional<PreloadPath> preload_path(const std::string& library, const InjectionOptions& options) {
    if (!options.cuda) return std::nullopt;
    Result<PreloadPath> path = PreloadPath::of(library);
    if (path.ok()) return std::move(*path);
    note(path.error().message);
    return std::nullopt;
}

// Several libraries for LD_PRELOAD.
std::string preload_list(const std::optional<PreloadPath>& first, const std::optional<PreloadPath>& second) {
    if (first && second) return first->path() + ":" + second->path();
    if (first) return first->path();
    return second ? second->path() : "";
}

Status write_plan(const SpoolFolder& folder, const std::string& plan) {
    return write_output(
        folder.path() + "/" + kCounterPlanFile,
        [&](Sink& sink) {
            sink.write(plan);
            return Status();
        },
        FileAccess::owner);
}

}  // namespace

// The command's own place; what it starts has other variables, and the injected library reads them there.
void put_place(ProcessTable& process, Row row, Batch& facts) {
    JobPlace place = find_job_place([](const char* name) { return std::getenv(name); });
    if (place.rank) process.rank.set(row, *place.rank);
    if (place.world_size) process.world_size.set(row, *place.world_size);
    if (place.local_rank) process.local_rank.set(row, *place.local_rank);
    if (place.node_rank) process.node_rank.set(row, *place.node_rank);
    if (place.restart) process.restart.set(row, *place.restart);
    if (!place.launcher.empty()) process.launcher.set(row, facts.intern(place.launcher));
    if (!place.job.empty()) process.job.set(row, facts.intern(place.job));
    char boot[kBootIdSize];
    if (std::size_t size = read_boot_id(boot); size > 0) process.boot_id.set(row, facts.intern({boot, size}));
}

namespace {

void add_fact(Batch& facts, const char* key, const std::string& value) {
    MetaTable& meta = facts.tables.meta;
    Row row = meta.add();
    meta.key.set(row, facts.intern(key));
    meta.value.set(row, facts.intern(value));
}

void add_settings(const RecorderSettings& settings, const ClockState& clock_at_start, Batch& facts) {
    add_fact(facts, meta_key::kTool, meta_key::kRecorderTool);
    each_setting(settings, [&](const SettingSpec& setting, auto value) {
        if (setting.option.kind != SettingOption::none && is_given(setting, value))
            add_fact(facts, meta_name(setting).c_str(), meta_value(value));
    });
    add_clock_facts(facts, "start", clock_at_start);
    add_clock_facts(facts, "end", read_clock_state());
}

Row add_command(pid_t pid, const std::string& command, Batch& facts) {
    ProcessTable& process = facts.tables.process;
    Row row = process.add();
    process.key.set(row, facts.intern(fmt::format("{}:{}", host_name(), pid)));
    process.pid.set(row, pid);
    process.host.set(row, facts.intern(host_name()));
    put_place(process, row, facts);
    if (!command.empty()) process.command.set(row, facts.intern(command));
    return row;
}

}  // namespace

// The launcher's facts: that it recorded, how the command ended, and the state of the clock before and after.
Batch own_facts(const RecordedRun& run) {
    Batch facts;
    add_settings(run.settings, run.clock_at_start, facts);
    if (run.full_after) add_fact(facts, "record.full_after_ns", std::to_string(*run.full_after));
    if (!run.debug_groups.empty()) add_fact(facts, debug_env::kGroups, with_commas(run.debug_groups));
    if (run.launches_block) add_fact(facts, debug_env::kLaunchBlocking, "1");
    Row row = add_command(run.pid, run.command, facts);
    facts.tables.process.exit_status.set(row, run.end.shell_status());
    return facts;
}

Result<RecordedRun> run_recorded(Target& target, const RecordingRequest& request) {
    InjectionOptions options = request.injection;
    std::optional<std::uint64_t> max_bytes = bytes_of_text(request.max_size);
    if (!request.max_size.empty() && !max_bytes)
        return Error{ExitCode::usage,
                     fmt::format("invalid --max-size '{}'; expected a number with B, KiB, MiB or GiB, such as 512MiB",
                                 request.max_size)};
    constexpr std::uint64_t kMostKept = std::uint64_t{1} << 30;
    const bool ends_when_full = max_bytes.has_value() && request.standby.empty();
    options.recorder.limited = ends_when_full;
    std::string library = injected_library();
    if (library.empty())
        return Error{ExitCode::internal, "cannot find libgpuprof_inject.so next to the program; reinstall gpu-profile"};
    Result<SpoolFolder> folder =
        SpoolFolder::make(parts_folder(request.output, request.parts) + "/" + base_name(request.output));
    if (!folder.ok()) return folder.error();
    if (!request.counter_plan.empty())
        if (Status written = write_plan(*folder, request.counter_plan); !written) return written.error();
    ProgramEnvironment environment;
    if (!request.cupti.empty()) environment.set_if_absent("GPUPROF_CUPTI", request.cupti);
    std::optional<PreloadPath> preload = preload_path(library, options);
    std::optional<PreloadPath> os_calls = options.recorder.os_calls_ns > 0 ? os_calls_preload() : std::nullopt;
    std::optional<OsCallShare> shared;
    if (os_calls) {
        Result<OsCallShare> made = OsCallShare::make(folder->path(), options.recorder.os_calls_ns);
        if (made.ok())
            shared.emplace(std::move(made).value()).describe_to(options.recorder);
        else
            note(made.error().message + "; calls of the operating system that cannot be recorded are not counted");
    }
    std::string preloaded = preload_list(os_calls, preload);
    InjectionOptions injected = options;
    if (!request.standby.empty() && options.recorder.keep_last_ns > 0) {  // the keeper chooses from parts (standby.h)
        injected.recorder.standby = false;
        injected.recorder.aggregate = true;
    }
    if (injected.recorder.aggregate) injected.recorder.keep_last_ns = 0;
    for (const std::string& remark : set_injection(environment, library, preloaded, *folder, injected)) note(remark);
    for (const std::string& remark : set_debug_env(environment, request.debug_groups, folder->path())) note(remark);
    Companions companions(*folder);
    prepare(companions, request, *folder);
    ClockState clock;
    std::string command;
    std::optional<Standby> standby;
    if (!request.standby.empty()) {
        environment.set("GPUPROF_STANDBY", request.standby);
        standby.emplace(StandbyOptions{.shared = request.standby,
                                       .local = folder->path(),
                                       .network = storage_of(request.standby) == StorageKind::network,
                                       .keep_last = options.recorder.keep_last_ns,
                                       .most_bytes = max_bytes.value_or(kMostKept),
                                       .handed_on = !request.aggregate.empty(),
                                       .companions = [&] { return window_companions(request, folder->path()); },
                                       .facts =
                                           [&](bool alone) {
                                               Batch facts;
                                               add_settings(options.recorder, clock, facts);
                                               if (alone) add_command(target.pid(), command, facts);
                                               return facts;
                                           }});
    }
    std::optional<Aggregation> aggregation;
    if (!request.aggregate.empty()) {
        Result<Aggregation> opened = Aggregation::open(request.aggregate);
        if (!opened.ok()) return opened.error();
        aggregation.emplace(std::move(*opened));
    }
    RecordingWatch watch(*folder, {.max_bytes = ends_when_full ? *max_bytes : 0,
                                   .progress = request.progress,
                                   .on_full = [&] { companions.stop(); }});
    if (Status started = target.start(request.command, {}, environment); !started) return started.error();
    shared.reset();
    companions.started(target.pid());
    note_failure(caught([&] { watch.start(); }));
    note_failure(caught([&] {
        clock = read_clock_state();
        if (!options.recorder.no_command_line) command = without_secrets(request.command);
    }));
    if (standby) note_failure(caught([&] { standby->start(target.pid()); }));
    if (aggregation)
        note_failure(caught([&] {
            aggregation->start(folder->path(), standby ? Aggregation::Parts::handed_on : Aggregation::Parts::removed);
        }));
    TargetExit end = target.wait([&] { companions.ended(); });
    if (standby) standby->finish();
    if (aggregation) note_failure(aggregation->finish());
    watch.stop();
    companions.stop();
    std::optional<DurNs> full_after = watch.full_after();
    for (const std::string& remark : companions.remarks()) note(remark);
    if (full_after)
        note(fmt::format("the recording reached --max-size {} after {} and stopped; the command continued",
                         request.max_size, readable_duration(*full_after)));
    return RecordedRun{.folder = std::move(*folder),
                       .command = std::move(command),
                       .program = request.command.front(),
                       .pid = target.pid(),
                       .end = end,
                       .full_after = full_after,
                       .preload = std::move(preload),
                       .os_calls = std::move(os_calls),
                       .clock_at_start = std::move(clock),
                       .debug_groups = request.debug_groups,
                       .launches_block = launches_block(environment),
                       .settings = options.recorder,
                       .standby = standby ? standby->result() : StandbyResult()};
}

}  // namespace gpuprof::cli
