#include "cli/ranks/reader_process.h"

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
#include <fstream>

#include "core/base/clock.h"
#include "core/base/spawn_actions.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::size_t kKept = 4096;  // of the end of what the child says
constexpr std::string_view kOwnName = "gpu-profile: ";
constexpr const char* kOutOfMemory = "out of memory";  // how the program says it (cli/main.cc, core/base/pod_vector.h)

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

// Libraries may answer a failed allocation with an abort or a bad access instead of a message; without a limit, only the
// kernel's killer of processes speaks of memory.
bool short_of_memory(const ChildEnd& end, std::uint64_t limit) {
    if (limit == 0) return end.signal == SIGKILL;
    return end.signal != 0 || end.problem.starts_with(kOutOfMemory);
}

std::string text_of_bytes(std::uint64_t bytes) { return readable_bytes(static_cast<double>(bytes)); }

}  // namespace

ChildEnd child_end(std::optional<std::int64_t> status, std::string said, double seconds) {
    if (!status) return {false, -1, 0, fmt::format("reading it took longer than {:g} s", seconds)};
    int code = static_cast<int>(*status);
    if (code < 0) return {false, -1, -code, fmt::format("the process that read it was ended by {}", strsignal(-code))};
    if (code == 0) return {true, 0, 0, {}};
    std::string line = last_line(std::move(said));
    return {false, code, 0, line.empty() ? fmt::format("the process that read it ended with status {}", code) : line};
}

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
    if (!in_time) return child_end(std::nullopt, {}, seconds);
    return child_end(WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status), std::move(said), seconds);
}

std::uint64_t free_memory() {
    std::ifstream about("/proc/meminfo");
    std::string word;
    for (std::uint64_t kib = 0; about >> word;)
        if (word == "MemAvailable:" && about >> kib) return kib << 10;
    auto pages = static_cast<std::uint64_t>(std::max(sysconf(_SC_AVPHYS_PAGES), 0L));
    return pages * static_cast<std::uint64_t>(std::max(sysconf(_SC_PAGESIZE), 1L));
}

bool needs_second_try(ChildEnd& first, std::uint64_t memory, const std::function<std::uint64_t()>& free) {
    if (first.ok || !short_of_memory(first, memory)) return false;
    if (2 * memory <= free()) return true;
    first.problem += fmt::format(" with --memory {}; {} for a second try are not free", text_of_bytes(memory),
                                 text_of_bytes(2 * memory));
    return false;
}

void end_second_try(ChildEnd& second, std::uint64_t memory) {
    if (second.ok || !short_of_memory(second, 2 * memory)) return;
    second.problem +=
        memory == 0 ? ", twice"
                    : fmt::format(" with --memory {}, and with {}", text_of_bytes(memory), text_of_bytes(2 * memory));
}

ChildEnd run_twice(const std::function<ChildEnd(std::uint64_t memory)>& run, std::uint64_t memory,
                   const std::function<std::uint64_t()>& free) {
    ChildEnd end = run(memory);
    if (!needs_second_try(end, memory, free)) return end;
    end = run(2 * memory);
    end_second_try(end, memory);
    return end;
}

}  // namespace gpuprof::cli
