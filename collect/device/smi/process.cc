// posix_spawn, poll, waitpid.
#include "collect/device/smi/process.h"

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

}  // namespace gpuprof::device::nvidia_smi
