#include "collect/launch/run_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "core/base/clock.h"
#include "core/base/files/names_in.h"
#include "core/base/files/storage.h"
#include "core/base/host_name.h"
#include "core/base/ownership.h"
#include "core/base/text/ascii.h"
#include "core/base/text/shell_words.h"

namespace gpuprof::inline launch {
namespace {

using control::kSecondNs;

// A launcher looks into the folder once a second, four times if it is local, and an attribute cache of NFS may add some seconds.
constexpr std::int64_t kLocalLead = 2 * kSecondNs, kNetworkLead = 10 * kSecondNs;
constexpr std::int64_t kSilentNs = 60 * kSecondNs;      // after that a launcher on another host is taken for dead
constexpr std::int64_t kStepsLimitNs = 60 * kSecondNs;  // of a window of steps, if the wish names none
constexpr std::int64_t kUsualNs = 5 * kSecondNs;
constexpr std::size_t kMaxStateBytes = 1 << 20;

Error cannot(const char* what, const std::string& file) {
    int error = errno;
    return {error == EACCES || error == EPERM || error == EROFS ? ExitCode::not_permitted : ExitCode::unreadable,
            fmt::format("cannot {} {}: {}", what, shell_quoted_file(file), std::strerror(error))};
}

// One trigger at a time; a killed one releases it.
class FolderLock {
public:
    explicit FolderLock(const std::string& folder)
        : file_(::open((folder + "/standby").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        held_ = file_ >= 0 && (::flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK);
    }
    ~FolderLock() {
        if (file_ >= 0) ::close(file_);
    }
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    bool held() const { return held_; }

private:
    int file_;
    bool held_;
};

// Whether every process that the request asked has its capture, or never will.
bool is_over(const control::Request& request, const std::vector<LauncherState>& launchers) {
    bool any = false;
    for (const LauncherState& launcher : launchers)
        for (const ProcessState& process : launcher.processes) {
            const control::Report& report = process.report;
            if (!launcher.alive() || process.ended) continue;
            bool asked = request.asks(report.rank);
            any |= asked && report.number == request.number;
            bool over = report.number == request.number && report.state >= control::WindowState::done;
            if (asked && report.number >= request.number && !over) return false;
        }
    return any;
}

std::optional<control::Request> last_request(const std::string& folder) {
    control::Request request;
    std::uint64_t identity = 0;
    std::string file = folder + "/" + control::kFile;
    bool found = control::read_request(file.c_str(), realtime_ns(), request, identity) == control::Found::request;
    return found ? std::optional(request) : std::nullopt;
}

bool anybody(const std::vector<LauncherState>& launchers) {
    return std::any_of(launchers.begin(), launchers.end(), [](const LauncherState& each) { return each.alive(); });
}

// Whether the recorders that are alive can do what is wished: those that keep the last minutes record by time alone.
Status check_kept(const std::vector<LauncherState>& launchers, const TriggerWish& wish, const std::string& folder) {
    if (wish.last_ns != 0 && (wish.seconds_ns != 0 || wish.steps != 0 || wish.open != 0 || wish.last_ns < 0))
        return Error{ExitCode::usage, "--last says when and how long; it excludes --seconds, --steps and --at"};
    for (const LauncherState& each : launchers) {
        if (!each.alive()) continue;
        std::string recorder =
            fmt::format("the recorder {} of {} in {}", each.pid, each.host, shell_quoted_file(folder));
        if (wish.last_ns > 0 && each.keep_last == 0)
            return Error{ExitCode::usage, recorder + " keeps nothing of the past; start it with --keep-last S"};
        if (wish.last_ns > each.keep_last)
            return Error{ExitCode::usage, fmt::format("{} keeps the last {} s only", recorder,
                                                      static_cast<double>(each.keep_last) / 1e9)};
        if (wish.steps > 0 && each.keep_last > 0)
            return Error{ExitCode::usage,
                         recorder + " was started with --keep-last and counts no steps; use --seconds"};
    }
    return {};
}

Error nobody(const std::string& folder) {
    return {ExitCode::empty,
            fmt::format("no recording is in standby in {0}; start one with: gpu-profile record --standby -o {0} -- "
                        "COMMAND",
                        shell_quoted_file(folder))};
}

// The next free number; creating its folder takes it.
Result<std::int64_t> take_number(const std::string& folder) {
    std::int64_t number = 1;
    for (const std::string& name : names_in(folder))
        if (name.size() == 5 && name[0] == 't' && std::all_of(name.begin() + 1, name.end(), is_digit))
            number = std::max(number, std::int64_t{std::strtoll(name.c_str() + 1, nullptr, 10)} + 1);
    for (; number <= control::kMaxNumber; ++number) {
        std::string path = folder + "/" + trigger_folder(number);
        if (::mkdir(path.c_str(), 0777) == 0) return number;
        if (errno != EEXIST) return cannot("create", path);
    }
    return Error{ExitCode::unreadable,
                 fmt::format("{} has {} triggers already; use another folder", folder, control::kMaxNumber)};
}

std::string read_small(const std::string& path) {
    std::string text;
    int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return text;
    struct stat about {};
    if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && is_ours(about) &&
        about.st_size <= static_cast<off_t>(kMaxStateBytes)) {
        text.resize(static_cast<std::size_t>(about.st_size));
        ssize_t size = ::read(file, text.data(), text.size());
        text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    }
    ::close(file);
    return text;
}

}  // namespace

std::string host_word() {
    std::string name = host_name();
    for (char& c : name)
        if (!is_alphanumeric(c) && c != '.' && c != '_') c = '-';
    return name.empty() ? "host" : name;
}

std::string trigger_folder(std::int64_t number) { return fmt::format("t{:04}", number); }

Status replace_file(const std::string& file, const std::string& content) {
    std::size_t slash = file.rfind('/') + 1;
    std::string part = fmt::format("{}.{}.{}", file.substr(0, slash), file.substr(slash), getpid());
    int fd = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0) return cannot("write", part);
    bool whole =
        ::fchmod(fd, 0644) == 0 && ::write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size());
    whole = ::close(fd) == 0 && whole && ::rename(part.c_str(), file.c_str()) == 0;
    if (whole) return {};
    Error error = cannot("write", file);
    ::unlink(part.c_str());
    return error;
}

bool has_ended(std::int64_t pid) {
    std::FILE* file = std::fopen(fmt::format("/proc/{}/stat", pid).c_str(), "re");
    if (file == nullptr) return true;
    char text[512];
    std::size_t size = std::fread(text, 1, sizeof text - 1, file);
    std::fclose(file);
    text[size] = '\0';
    std::string_view stat(text, size);
    std::size_t name = stat.rfind(") ");
    return name == stat.npos || stat[name + 2] == 'Z' || stat[name + 2] == 'X';
}

Status write_request_file(const std::string& file, const control::Request& request) {
    char line[control::kMaxBytes];
    std::size_t size = control::write_request(request, line);
    if (size == 0) return Error{ExitCode::usage, "the list of ranks is too long; name ranges, such as 0-63"};
    return replace_file(file, {line, size});
}

Result<control::Request> request_trigger(const std::string& folder, const TriggerWish& wish) {
    std::vector<LauncherState> launchers = read_launchers(folder);
    if (!anybody(launchers)) return nobody(folder);
    FolderLock lock(folder);
    if (!lock.held()) return Error{ExitCode::not_permitted, "another trigger is being written; try again"};
    std::int64_t now = realtime_ns();
    std::optional<control::Request> last = last_request(folder);
    if (last && now < last->close + 2 * kSecondNs && !is_over(*last, launchers))
        return Error{ExitCode::not_permitted,
                     fmt::format("trigger {} is in progress; wait for it, or end it with --stop", last->number)};
    control::Request request;
    request.id = std::max(now, last ? last->id + 1 : 0);
    request.open =
        wish.open != 0 ? wish.open : now + (storage_of(folder) == StorageKind::network ? kNetworkLead : kLocalLead);
    request.steps = wish.steps;
    request.close = request.open + (wish.seconds_ns > 0 ? wish.seconds_ns : wish.steps > 0 ? kStepsLimitNs : kUsualNs);
    if (wish.last_ns > 0) {
        request.close = now;
        request.open = now - wish.last_ns;
    }
    if (Status kept = check_kept(launchers, wish, folder); !kept) return kept.error();
    if (!control::parse_ranks(wish.ranks, request))
        return Error{ExitCode::usage,
                     fmt::format("invalid ranks '{}'; expected numbers and ranges such as 0,8-15", wish.ranks)};
    if (wish.seconds_ns > control::kMaxWindowNs || wish.steps < 0 || wish.steps > control::kMaxSteps ||
        wish.seconds_ns < 0)
        return Error{ExitCode::usage, "a trigger records at most 600 s and 1,000,000 steps"};
    if (request.open < now && wish.last_ns == 0) return Error{ExitCode::usage, "the time to start has passed"};
    if (request.open - request.id > control::kMaxAheadNs)
        return Error{ExitCode::usage, "a trigger may start at most 24 hours ahead"};
    Result<std::int64_t> number = take_number(folder);
    if (!number.ok()) return number.error();
    request.number = *number;
    if (Status written = write_request_file(folder + "/" + control::kFile, request); !written) {
        ::rmdir((folder + "/" + trigger_folder(request.number)).c_str());
        return written.error();
    }
    return request;
}

Result<control::Request> request_stop(const std::string& folder) {
    std::vector<LauncherState> launchers = read_launchers(folder);
    if (!anybody(launchers)) return nobody(folder);
    FolderLock lock(folder);
    std::optional<control::Request> last = last_request(folder);
    std::int64_t now = realtime_ns();
    if (!last || now >= last->close || is_over(*last, launchers))
        return Error{ExitCode::empty, fmt::format("no trigger is in progress in {}", shell_quoted_file(folder))};
    last->id = std::max(now, last->id + 1);
    last->close = std::max(now, last->open);
    if (last->open > now) last->open = last->close = now;  // it never opens
    if (Status written = write_request_file(folder + "/" + control::kFile, *last); !written) return written.error();
    return *last;
}

// On this host a process that ended is known at once; of other hosts only the time of their last word.
bool LauncherState::alive() const {
    if (ended) return false;
    if (host == host_word()) return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH;
    return realtime_ns() - updated < kSilentNs;
}

std::string encode(const LauncherState& state) {
    std::string text = fmt::format("gpuprof-standby 2 {} {} {} {} {} {} {}\n", state.host, state.pid, state.updated,
                                   int{state.ended}, int{state.synchronised}, state.refused, state.keep_last);
    for (const ProcessState& process : state.processes) {
        char line[control::kMaxBytes];
        std::size_t size = control::write_report(process.report, line);
        text += fmt::format("{} {} {}", int{process.ended}, process.capture.empty() ? "-" : process.capture,
                            std::string_view(line, size));
    }
    return text;
}

std::optional<LauncherState> parse_launcher_state(std::string_view text) {
    LauncherState state;
    std::size_t end = text.find('\n');
    if (end == text.npos) return std::nullopt;
    control::Words words(text.substr(0, end));
    words.expect("gpuprof-standby");
    words.expect("2");
    state.host = words.next();
    state.pid = words.number(INT32_MAX);
    state.updated = words.number(INT64_MAX);
    state.ended = words.number(1) == 1;
    state.synchronised = words.number(1) == 1;
    state.refused = words.number(INT64_MAX);
    state.keep_last = words.number(INT64_MAX);
    if (!words.good() || state.pid == 0) return std::nullopt;
    for (text.remove_prefix(end + 1); !text.empty(); text.remove_prefix(end + 1)) {
        end = text.find('\n');
        if (end == text.npos) return std::nullopt;
        std::string_view line = text.substr(0, end + 1);
        ProcessState process;
        process.ended = line.substr(0, 2) == "1 ";
        std::size_t name = line.find(' ', 2);
        if (line.size() < 4 || name == line.npos) return std::nullopt;
        process.capture = line.substr(2, name - 2);
        if (process.capture == "-") process.capture.clear();
        std::optional<control::Report> report = control::parse_report(line.substr(name + 1));
        if (!report) return std::nullopt;
        process.report = *report;
        state.processes.push_back(std::move(process));
    }
    return state;
}

std::vector<LauncherState> read_launchers(const std::string& folder) {
    std::vector<LauncherState> launchers;
    for (const std::string& name : names_in(folder + "/standby"))
        if (name[0] != '.')
            if (std::optional<LauncherState> state = parse_launcher_state(read_small(folder + "/standby/" + name)))
                launchers.push_back(std::move(*state));
    return launchers;
}

std::string launcher_file(const std::string& folder, const std::string& host, std::int64_t pid) {
    return fmt::format("{}/standby/{}-{}", folder, host, pid);
}

}  // namespace gpuprof::launch
