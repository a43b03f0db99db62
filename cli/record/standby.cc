#include "cli/record/standby.h"

#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "cli/output.h"
#include "cli/record/clock_state.h"
#include "cli/record/recording_parts.h"
#include "collect/launch/injection.h"
#include "core/base/caught.h"
#include "core/base/clock.h"
#include "core/base/files/path_search.h"
#include "core/base/spawn_actions.h"
#include "core/base/text/shell_words.h"
#include "core/base/whole_file.h"

namespace gpuprof::inline cli {
namespace {

using control::kSecondNs;
using control::WindowState;

constexpr auto kLook = std::chrono::milliseconds(250), kNetworkLook = std::chrono::milliseconds(1000);
constexpr DurNs kCompanionLead = kSecondNs;  // they are ready in tenths of a second
constexpr DurNs kDelivery = 3 * kSecondNs;   // records come up to a second after the window, and the part after them
constexpr DurNs kMostSilence =
    15 * kSecondNs;  // with --keep-last: of a process that is stopped, which hands over no part
constexpr DurNs kStateEvery = 5 * kSecondNs;
constexpr DurNs kMaxMergeWait = 60 * kSecondNs, kMaxRelayWait = 2 * kSecondNs;  // at the end of the command
constexpr int kNice = 10;               // of a merge, which should not take CPU time from the job
constexpr std::size_t kMaxRounds = 16;  // whose outcome is still told

std::optional<control::Report> read_report(const std::string& file) {
    std::FILE* open = std::fopen(file.c_str(), "re");
    if (open == nullptr) return std::nullopt;
    char text[control::kMaxBytes + 1];
    std::size_t size = std::fread(text, 1, sizeof text, open);
    std::fclose(open);
    return control::parse_report({text, size});
}

}  // namespace

// Everything that touches the shared folder. It outlives the recording if its thread hangs.
struct Standby::Relay {
    std::string shared, local, state_file;
    std::chrono::milliseconds interval;
    std::mutex mutex;
    std::condition_variable wake;
    std::string state;  // to be written
    std::int64_t refused = 0;
    bool stop = false, stopped = false;

    void run() {
        std::unique_lock lock(mutex);
        std::string written;
        TimeNs written_at = 0;
        std::int64_t last_id = 0;
        std::uint64_t refused_file = 0;
        while (true) {
            std::string wanted = state;
            bool last = stop;
            lock.unlock();
            control::Request request;
            std::uint64_t identity = 0;
            bool refuse = false;
            switch (control::read_request((shared + "/" + control::kFile).c_str(), realtime_ns(), request, identity)) {
                case control::Found::nothing: break;
                case control::Found::refused:
                    refuse = identity != refused_file;
                    refused_file = identity;
                    break;
                case control::Found::request:
                    if (request.id > last_id && launch::write_request_file(local + "/" + control::kFile, request))
                        last_id = request.id;
            }
            if (!wanted.empty() && (wanted != written || last || monotonic_ns() - written_at >= kStateEvery)) {
                if (launch::replace_file(state_file, wanted)) written = wanted;
                written_at = monotonic_ns();
            }
            lock.lock();
            refused += refuse;
            if (last) break;
            wake.wait_for(lock, interval, [&] { return stop; });
        }
        stopped = true;
        wake.notify_all();
    }
};

Standby::Standby(StandbyOptions options) : options_(std::move(options)), relay_(std::make_shared<Relay>()) {
    relay_->shared = options_.shared;
    relay_->local = options_.local;
    relay_->state_file = launch::launcher_file(options_.shared, launch::host_word(), getpid());
    relay_->interval = options_.network ? kNetworkLook : kLook;
}

Standby::~Standby() {
    if (thread_.joinable()) finish();
}

void Standby::start(pid_t target) {
    target_ = target;
    publish(false);
    std::thread([relay = relay_] { (void)caught([&] { relay->run(); }); }).detach();
    thread_ = std::thread([this] { run(); });
}

void Standby::run() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, kLook, [this] { return stopping_; })) {
        lock.unlock();
        (void)caught([this] { look(false); });  // the next look may succeed
        lock.lock();
    }
}

void Standby::finish() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (!thread_.joinable()) return;
    thread_.join();
    (void)caught([this] { look(true); });
    for (TimeNs until = monotonic_ns() + kMaxMergeWait; !merges_.empty() && monotonic_ns() < until;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        (void)caught([this] { reap(); });
    }
    for (const Merge& merge : merges_) result_.left.push_back(merge.folder);
    (void)caught([this] { publish(true); });
    std::unique_lock lock(relay_->mutex);
    relay_->stop = true;
    relay_->wake.notify_all();
    relay_->wake.wait_for(lock, std::chrono::nanoseconds(kMaxRelayWait), [&] { return relay_->stopped; });
}

void Standby::look(bool last) {
    take_request();
    options_.keep_last > 0 ? take_parts(last) : take_reports(last);
    TimeNs now = realtime_ns();
    for (auto& [number, round] : rounds_) {
        if (round.over) continue;
        if (!round.prepared && !last && now >= round.request.open - kCompanionLead && now < round.request.close)
            begin(round);
        if (is_over(round, last)) harvest(round);
    }
    while (rounds_.size() > kMaxRounds && rounds_.begin()->second.over) rounds_.erase(rounds_.begin());
    reap();
    publish(false);
}

void Standby::take_request() {
    control::Request request;
    std::uint64_t identity = 0;
    std::string file = options_.local + "/" + control::kFile;
    if (control::read_request(file.c_str(), realtime_ns(), request, identity) != control::Found::request) return;
    if (request.id <= last_id_) return;
    last_id_ = request.id;
    auto [round, added] = rounds_.try_emplace(request.number);
    if (!round->second.over) round->second.request = request;
}

// What the processes wrote. Of those that have ended without a window, the files are removed: a job may start thousands.
void Standby::take_reports(bool last) {
    waiting_.clear();
    for (const std::string& file : launch::files_in(options_.local, control::kReportSuffix)) {
        std::optional<control::Report> report = read_report(file);
        if (!report) continue;
        bool ended = last || launch::has_ended(report->pid);
        auto round = rounds_.find(report->number);
        if (report->number != 0 && round != rounds_.end() && !round->second.over) {
            round->second.processes[report->pid] = {.report = *report, .ended = ended};
            continue;
        }
        waiting_[report->pid] = *report;
        if (!ended) continue;
        waiting_.erase(report->pid);
        unlink(file.c_str());
        bool in_round = std::any_of(rounds_.begin(), rounds_.end(), [&](const auto& each) {
            return !each.second.over && each.second.processes.contains(report->pid);
        });
        for (const std::string& part : launch::parts_in(options_.local))
            if (!in_round && part.starts_with(fmt::format("{}/{}-", options_.local, report->pid))) unlink(part.c_str());
    }
}

// What the last parts have of each round's window, after deleting those that are too old or too many.
void Standby::take_parts(bool last) {
    constexpr DurNs kToHear = 5 * kSecondNs, kToHearByNetwork = 15 * kSecondNs;  // of a request
    std::map<std::int64_t, bool> ended;  // before the list is made, which therefore has all their parts
    for (const ProcessPart& part : process_parts(options_.local))
        if (part.newest) ended[part.pid] = last || launch::has_ended(part.pid);
    parts_ = process_parts(options_.local);
    TimeNs since = realtime_ns() - options_.keep_last - (options_.network ? kToHearByNetwork : kToHear);
    for (const auto& [number, round] : rounds_)
        if (!round.over) since = std::min(since, round.request.open);
    for (ProcessPart& part : parts_) {
        part.open = part.newest && !ended[part.pid];
        if (!part.open && !options_.handed_on) keep_part(part);
    }
    delete_old_parts(parts_, since, options_.most_bytes);
    waiting_.clear();
    std::map<std::int64_t, PartFacts> known;
    for (const ProcessPart& part : parts_) {
        if (!part.newest) continue;
        auto facts = known_.find(part.pid);
        std::optional<PartFacts> of = facts != known_.end() ? std::optional(facts->second) : read_part_facts(part.file);
        if (!of) continue;
        known.emplace(part.pid, *of);
        if (!ended[part.pid]) waiting_[part.pid] = {.pid = part.pid, .rank = of->rank};
    }
    known_ = std::move(known);
    for (auto& [number, round] : rounds_)
        if (!round.over) follow(round, ended);
}

// A process that has ended is asked too, as long as there are parts of it.
void Standby::follow(Round& round, const std::map<std::int64_t, bool>& ended) {
    const control::Request& request = round.request;
    TimeNs now = realtime_ns();
    round.processes.clear();
    for (const auto& [pid, facts] : known_) {
        if (!request.asks(facts.rank)) continue;
        auto of_process = [pid = pid](const ProcessPart& part) { return part.pid == pid; };
        auto first = std::find_if(parts_.begin(), parts_.end(), of_process);
        auto newest = std::find_if(first, parts_.end(), [](const ProcessPart& part) { return part.newest; });
        bool over = ended.at(pid), complete = over || newest->begin > request.close + kDelivered;
        control::Report report{.pid = pid, .rank = facts.rank, .number = request.number, .open = request.open};
        report.opened = std::max(request.open, first->begin);
        report.closed = std::min(request.close, complete ? newest->end : newest->begin);
        if (now < request.close && !over) report.closed = 0;
        report.state = complete ? WindowState::done : now < request.open ? WindowState::waiting : WindowState::open;
        if (now < request.open) report.opened = 0;
        if (report.opened >= request.close || (over && newest->end <= request.open)) continue;  // no part of the window
        round.processes[pid] = {.report = report, .capture = {}, .ended = over};
        waiting_.erase(pid);
    }
}

void Standby::begin(Round& round) {
    round.prepared = true;
    std::string folder = options_.local + "/" + launch::trigger_folder(round.request.number);
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return;
    for (std::unique_ptr<Companion>& companion : options_.companions()) {
        Status ready =
            caught([&]() -> Status { return companion->prepare(companion_part(folder, companion->name())); });
        if (ready) ready = caught([&] { companion->started(target_); });
        if (ready)
            round.companions.push_back(std::move(companion));
        else
            note_failure(ready);
    }
}

bool Standby::is_over(const Round& round, bool last) const {
    if (last) return true;
    TimeNs now = realtime_ns();
    DurNs patience = options_.keep_last > 0 ? kMostSilence : 2 * kDelivery;
    for (const auto& [pid, process] : round.processes)
        if (process.report.state < WindowState::done && !process.ended) return now > round.request.close + patience;
    if (now >= round.request.close + kDelivery) return true;
    if (round.processes.empty()) return false;
    // Others may not have read the request yet.
    return now >= round.request.open + kDelivery ||
           std::all_of(waiting_.begin(), waiting_.end(), [&](const auto& each) {
               return !round.request.asks(each.second.rank) || round.processes.contains(each.first);
           });
}

// One capture per rank; what has no rank is one capture, as without standby.
void Standby::harvest(Round& round) {
    round.over = true;
    for (const auto& companion : round.companions) note_failure(caught([&] { companion->ask_to_stop(); }));
    for (const auto& companion : round.companions) note_failure(caught([&]() -> Status { return companion->stop(); }));
    round.companions.clear();
    std::map<std::optional<std::int64_t>, std::vector<std::int64_t>> groups;
    for (auto& [pid, process] : round.processes) {
        unlink(fmt::format("{}/{}-{}{}", options_.local, pid, round.request.number, control::kReportSuffix).c_str());
        if (process.report.opened != 0) groups[process.report.rank].push_back(pid);
    }
    for (const auto& [rank, pids] : groups) merge(round, pids, groups.size() == 1);
    std::error_code failed;
    std::filesystem::remove_all(options_.local + "/" + launch::trigger_folder(round.request.number), failed);
}

void Standby::merge(Round& round, const std::vector<std::int64_t>& pids, bool alone) {
    std::string number = launch::trigger_folder(round.request.number);
    const launch::ProcessState& first = round.processes.at(pids.front());
    std::string rank = first.report.rank ? fmt::format("-r{}", *first.report.rank) : "";
    std::string name = fmt::format("{}/{}{}-{}.gpuprof", number, launch::host_word(), rank, pids.front());
    std::string folder = fmt::format("{}/{}{}.parts", options_.local, number, rank);
    if (mkdir(folder.c_str(), 0700) != 0) return note(fmt::format("cannot create {} for a capture", folder));
    for (std::int64_t pid : pids) {
        const control::Report& report = round.processes.at(pid).report;
        std::string part = fmt::format("/{}-{}.gpuprof", pid, report.part);
        if (options_.keep_last > 0)
            gather_window(parts_, pid, {report.number, report.open, report.opened, report.closed}, folder);
        else
            (void)rename((options_.local + part).c_str(), (folder + part).c_str());
    }
    // Samples of the machine belong to every rank; what concerns single processes only to a capture of all.
    for (const char* companion : {"cpu", "python", "devices"}) {
        std::string from = companion_part(options_.local + "/" + number, companion);
        if (!alone && companion != std::string_view("devices")) continue;
        if (link(from.c_str(), companion_part(folder, companion).c_str()) != 0 && errno != ENOENT)
            note(fmt::format("cannot keep {} for a capture", from));
    }
    std::string capture = options_.shared + "/" + name;
    (void)keep_for_merging(options_.facts(alone), folder, capture);
    SpawnActions actions;
    actions.open(0, "/dev/null", O_RDONLY);
    actions.open(1, (folder + "/log").c_str(), O_WRONLY | O_CREAT | O_TRUNC);
    actions.duplicate(1, 2);
    actions.reset_signals();
    pid_t child = -1;
    int error = actions.spawn(child, this_executable(),
                              {"gpu-profile", "record", "--merge", folder, "-o", capture, "--force", "--quiet"});
    if (error != 0) {
        result_.left.push_back(folder);
        return;
    }
    setpriority(PRIO_PROCESS, static_cast<id_t>(child), kNice);
    merges_.push_back({child, folder, name});
}

void Standby::reap() {
    for (auto merge = merges_.begin(); merge != merges_.end();) {
        int status = 0;
        pid_t ended = waitpid(merge->process, &status, WNOHANG);
        if (ended == 0 || (ended < 0 && errno == EINTR)) {
            ++merge;
            continue;
        }
        if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
            ++result_.captures;
            for (auto& [number, round] : rounds_)
                for (auto& [pid, process] : round.processes) {
                    bool same =
                        process.report.opened != 0 && merge->capture.starts_with(launch::trigger_folder(number) + "/");
                    std::string rank = process.report.rank ? fmt::format("-r{}-", *process.report.rank) : "-";
                    if (same && merge->capture.find(launch::host_word() + rank) != std::string::npos)
                        process.capture = merge->capture;
                }
            std::error_code failed;
            std::filesystem::remove_all(merge->folder, failed);
        } else {
            result_.left.push_back(merge->folder);
        }
        merge = merges_.erase(merge);
    }
}

void Standby::publish(bool ended) {
    launch::LauncherState state;
    state.host = launch::host_word();
    state.pid = getpid();
    state.ended = ended;
    state.synchronised = read_clock_state().synchronised;
    state.keep_last = options_.keep_last;
    {
        std::lock_guard lock(relay_->mutex);
        state.refused = relay_->refused;
    }
    for (const auto& [number, round] : rounds_)
        for (const auto& [pid, process] : round.processes) state.processes.push_back(process);
    for (const auto& [pid, report] : waiting_)
        state.processes.push_back({.report = report, .capture = {}, .ended = false});
    std::string text = launch::encode(state);  // without a time: it is written again only if something changed
    bool changed = text != published_;
    published_ = text;
    static TimeNs published_at = 0;
    if (!changed && realtime_ns() - published_at < kStateEvery) return;
    published_at = state.updated = realtime_ns();
    std::lock_guard lock(relay_->mutex);
    relay_->state = launch::encode(state);
}

}  // namespace gpuprof::cli
