#include "cli/ranks/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/base/clock.h"
#include "core/base/spawn_actions.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::size_t kKept = 4096;  // of the end of what the child says
constexpr std::string_view kOwnName = "gpu-profile: ";

// Reads until the other end is closed; false if time ran out before.
bool read_words(int fd, TimeNs deadline, std::string& words) {
    std::array<char, 1024> part{};
    while (true) {
        DurNs left = deadline - monotonic_ns();
        if (left <= 0) return false;
        pollfd ready{fd, POLLIN, 0};
        int answer = poll(&ready, 1, static_cast<int>(std::min<DurNs>(left / 1'000'000 + 1, 1000)));
        if (answer < 0 && errno != EINTR) return true;
        if (answer <= 0) continue;
        ssize_t got = read(fd, part.data(), part.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return true;
        words.append(part.data(), static_cast<std::size_t>(got));
        if (words.size() > kKept) words.erase(0, words.size() - kKept);
    }
}

std::string last_line(std::string words) {
    while (!words.empty() && words.back() == '\n') words.pop_back();
    words.erase(0, words.rfind('\n') + 1);
    return words.starts_with(kOwnName) ? words.substr(kOwnName.size()) : words;
}

}  // namespace

ChildEnd run_child(const std::string& program, const std::vector<std::string>& arguments, double seconds) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return {false, -1, 0, fmt::format("cannot start a process: {}", std::strerror(errno))};
    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    SpawnActions actions;
    actions.open(STDIN_FILENO, "/dev/null", O_RDONLY);
    actions.open(STDOUT_FILENO, "/dev/null", O_WRONLY);
    actions.duplicate(ends[1], STDERR_FILENO);
    pid_t child = 0;
    int failed = actions.spawn(child, program, words);
    close(ends[1]);
    std::string said;
    bool in_time = true;
    if (failed == 0) in_time = read_words(ends[0], monotonic_ns() + static_cast<TimeNs>(seconds * 1e9), said);
    close(ends[0]);
    if (failed != 0) return {false, -1, 0, fmt::format("cannot start {}: {}", program, std::strerror(failed))};
    if (!in_time) kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!in_time) return {false, -1, 0, fmt::format("reading it took longer than {:g} s", seconds)};
    if (WIFSIGNALED(status))
        return {false, -1, WTERMSIG(status),
                fmt::format("the process that read it was ended by {}", strsignal(WTERMSIG(status)))};
    if (WEXITSTATUS(status) == 0) return {true, 0, 0, {}};
    std::string line = last_line(std::move(said));
    return {false, WEXITSTATUS(status), 0,
            line.empty() ? fmt::format("the process that read it ended with status {}", WEXITSTATUS(status)) : line};
}

}  // namespace gpuprof::cli
