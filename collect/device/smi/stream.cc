// Starts nvidia-smi, adapts the query, splits lines.
#include "collect/device/smi/stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/clock.h"
#include "core/base/environment.h"
#include "core/base/spawn_actions.h"

namespace gpuprof::inline device::nvidia_smi {
namespace {

// posix_spawn, poll, waitpid.

bool is_program(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

Process& Process::operator=(Process&& other) noexcept {
    if (this == &other) return *this;
    kill();
    pid_ = std::exchange(other.pid_, -1);
    output_ = std::exchange(other.output_, -1);
    return *this;
}

Result<Process> Process::start(const std::string& program, const std::vector<std::string>& arguments) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return Error{ExitCode::internal, fmt::format("cannot create a pipe for {}: {}", program, std::strerror(errno))};
    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    SpawnActions actions;
    actions.open(STDIN_FILENO, "/dev/null", O_RDONLY);
    actions.duplicate(ends[1], STDOUT_FILENO);
    actions.duplicate(ends[1], STDERR_FILENO);
    actions.close_from(STDERR_FILENO + 1);
    actions.reset_signals();
    actions.lead_group();
    // A fixed locale, so that numbers and messages have the form that the parser expects.
    ProgramEnvironment environment;
    environment.remove_beginning("LC_");
    environment.remove("LANG");
    environment.remove("LANGUAGE");
    environment.set("LC_ALL", "C");
    Process process;
    int error = actions.spawn(process.pid_, program, words, environment);
    close(ends[1]);
    process.output_ = ends[0];
    fcntl(process.output_, F_SETFL, O_NONBLOCK);
    if (error == 0) return process;
    process.pid_ = -1;
    return Error{ExitCode::unreadable, fmt::format("cannot start {}: {}", program, std::strerror(error))};
}

bool Process::read(std::string& to, DurNs timeout) {
    constexpr std::size_t kMaxPerPoll = 1 << 20;  // a babbling program must not delay sampling
    if (output_ < 0) return false;
    pollfd wanted{output_, POLLIN, 0};
    if (timeout > 0) poll(&wanted, 1, static_cast<int>(timeout / 1'000'000));
    char buffer[16384];
    for (std::size_t total = 0; total < kMaxPerPoll;) {
        ssize_t got = ::read(output_, buffer, sizeof buffer);
        if (got == 0) return false;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
        to.append(buffer, static_cast<std::size_t>(got));
        total += static_cast<std::size_t>(got);
    }
    return true;
}

std::optional<std::string> Process::ending() {
    constexpr DurNs kKillGrace = 50'000'000;
    for (TimeNs deadline = monotonic_ns() + kKillGrace; pid_ > 0;) {
        int status = 0;
        pid_t ended = waitpid(pid_, &status, WNOHANG);
        if (ended == pid_ || (ended < 0 && errno != EINTR)) {
            pid_ = -1;
            if (ended < 0) return "unknown status";
            if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
            return fmt::format("exit status {}", WEXITSTATUS(status));
        }
        if (monotonic_ns() > deadline) break;
        usleep(1000);
    }
    return std::nullopt;
}

void Process::kill() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        ending();
    }
    if (output_ >= 0) close(output_);
    pid_ = output_ = -1;
}

std::string find_nvidia_smi() {
    std::string folders = trusted_environment("PATH") + ":/usr/bin:/usr/lib/wsl/lib";
    for (std::size_t begin = 0; begin < folders.size();) {
        std::size_t end = std::min(folders.find(':', begin), folders.size());
        std::string program = folders.substr(begin, end - begin) + "/nvidia-smi";
        if (program.front() == '/' && program != "/nvidia-smi" && is_program(program)) return program;
        begin = end + 1;
    }
    return {};
}

namespace {

constexpr DurNs kPoll = 50'000'000;
// nvidia-smi's wording; the name of the field precedes it, in quotes.
constexpr std::string_view kRefusal = "is not a valid field to query";

}  // namespace

Stream::Stream(std::string program, DurNs interval) : program_(std::move(program)), interval_(interval) {
    for (const Field& field : fields()) requested_.push_back({&field, field.query});
}

std::vector<std::string> Stream::arguments(const std::vector<RequestedField>& requested, bool loop) const {
    std::string query = "--query-gpu=";
    for (const RequestedField& one : requested) {
        if (!query.ends_with('=')) query += ',';
        query += one.name;
    }
    std::vector<std::string> words{query, "--format=csv,nounits"};
    if (loop) words.insert(words.end(), {"-lms", fmt::format("{}", interval_ / 1'000'000)});
    return words;
}

Status Stream::restart() {
    buffer_.clear();
    said_.clear();
    table_ = Table();
    Result<Process> process = Process::start(program_, arguments(requested_, true));
    if (!process) return process.error();
    process_ = std::move(*process);
    return {};
}

bool Stream::read(std::vector<Row>& to, DurNs timeout) {
    constexpr std::size_t kMaxKeptBytes = 1 << 16;  // for an unfinished line, and for messages
    bool open = process_.read(buffer_, timeout);
    if (!open && !buffer_.empty() && buffer_.back() != '\n') buffer_ += '\n';
    std::size_t begin = 0;
    for (std::size_t end; (end = buffer_.find('\n', begin)) != buffer_.npos; begin = end + 1) {
        std::string_view line = std::string_view(buffer_).substr(begin, end - begin);
        std::string before = table_.message();
        if (std::optional<Row> row = table_.take(line))
            to.push_back(std::move(*row));
        else if (said_.size() < kMaxKeptBytes && table_.message() != before)
            said_ += table_.message() + "\n";
    }
    buffer_.erase(0, begin);
    if (buffer_.size() > kMaxKeptBytes) buffer_.clear();
    return open;
}

std::string Stream::ending() {
    std::string how = process_.ending().value_or("closed its output");
    process_.kill();
    return table_.message().empty() ? how : fmt::format("{}: {}", how, table_.message());
}

// Reads rows until every GPU was listed once. If their count is unknown, a second row of the same GPU shows that a new
// round began.
Result<std::vector<Row>> Stream::first_rows(TimeNs deadline) {
    std::vector<Row> rows;
    while (monotonic_ns() < deadline) {
        bool open = read(rows, kPoll);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            bool again = i > 0 && rows[i].index == rows.front().index;
            bool complete = rows.front().count && i + 1 >= static_cast<std::size_t>(std::max(1, *rows.front().count));
            if (!again && !complete) continue;
            rows.resize(again ? i : i + 1);
            return rows;
        }
        if (!open) return Error{ExitCode::empty, ending()};
    }
    process_.kill();
    return Error{ExitCode::empty, "no answer"};
}

bool Stream::exchange(std::size_t position) {
    RequestedField& requested = requested_[position];
    if (!requested.field->older.empty() && requested.name != requested.field->older) {
        requested.name = requested.field->older;
        return true;
    }
    if (requested.field->metric) refused_.add(*requested.field->metric);
    requested_.erase(requested_.begin() + static_cast<std::ptrdiff_t>(position));
    return !requested_.empty();
}

// Replaces the fields that the messages name; false if they name none.
bool Stream::drop_refused() {
    bool any = false;
    for (std::size_t at = said_.find(kRefusal); at != said_.npos; at = said_.find(kRefusal, at + 1)) {
        std::size_t end = said_.rfind('"', at),
                    begin = end == said_.npos || end == 0 ? said_.npos : said_.rfind('"', end - 1);
        if (begin == said_.npos) continue;
        std::string_view name = std::string_view(said_).substr(begin + 1, end - begin - 1);
        for (std::size_t i = 0; i < requested_.size(); ++i)
            if (requested_[i].name == name && i > 0) {
                exchange(i);
                any = true;
                break;
            }
    }
    return any;
}

// Queries each field once, together with the index; a field without a row is replaced, then dropped.
bool Stream::probe_each(TimeNs deadline) {
    std::size_t before = requested_.size();
    for (std::size_t i = 1; i < requested_.size();) {
        Result<Process> process = Process::start(program_, arguments({requested_[0], requested_[i]}, false));
        if (!process) return false;
        process_ = std::move(*process);
        table_ = Table();
        buffer_.clear();
        std::vector<Row> rows;
        while (read(rows, kPoll) && monotonic_ns() < deadline) {
        }
        process_.kill();
        if (monotonic_ns() >= deadline) return false;
        std::string_view name = requested_[i].name;
        if (rows.empty()) exchange(i);
        if (!rows.empty() || (i < requested_.size() && requested_[i].name == name)) ++i;
    }
    return requested_.size() > 1 && requested_.size() != before;
}

Result<std::vector<Row>> Stream::open(DurNs timeout) {
    TimeNs deadline = monotonic_ns() + timeout;
    bool probed = false;
    for (;;) {
        if (Status started = restart(); !started) return started.error();
        Result<std::vector<Row>> rows = first_rows(deadline);
        if (rows || monotonic_ns() >= deadline) return rows;
        if (drop_refused()) continue;
        bool refusal = said_.find("not a valid field") != said_.npos || said_.find("query-gpu") != said_.npos;
        if (probed || !refusal || !probe_each(deadline)) return rows;
        probed = true;
    }
}

}  // namespace gpuprof::device::nvidia_smi
