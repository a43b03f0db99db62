// Reads facts about processes and threads from /proc (proc(5)). A process may vanish between any two reads; the answer
// is then absent, which is not an error. Paths begin with a root, so that tests can substitute another system.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::inline cpu {

// The used fields of /proc/PID/stat and /proc/PID/task/TID/stat. Times are in clock ticks.
struct ProcStat {
    pid_t parent = 0;
    char state = '?';
    std::string_view name;  // part of the parsed text
    std::int64_t user_ticks = 0, system_ticks = 0;
    std::int64_t start_ticks = 0;  // since boot
    std::int64_t resident_pages = 0;
};

// A name may contain blanks and brackets: it ends with the last ")".
std::optional<ProcStat> parse_stat(std::string_view text);

// /proc/PID/task/TID/schedstat, in ns since the thread began. The kernel adds a wait when it ends.
struct SchedStat {
    std::int64_t run = 0, ready = 0;  // on a CPU; ready to run, without one
};

// Absent if the kernel does not count: it then writes three zeros, of which the last would be the number of runs.
std::optional<SchedStat> parse_schedstat(std::string_view text);

class ProcFiles {
public:
    explicit ProcFiles(std::string root = "/proc") : root_(std::move(root)) {}

    // The file PID/NAME, up to `limit` bytes; valid until the next read. Absent if it cannot be read.
    std::optional<std::string_view> read(pid_t pid, std::string_view name, std::size_t limit = 4096);
    std::optional<ProcStat> stat(pid_t pid);
    std::optional<ProcStat> stat(pid_t pid, pid_t thread);
    std::optional<SchedStat> schedstat(pid_t pid, pid_t thread);
    // All processes; all threads of one. Empty if it has ended.
    void list_processes(std::vector<pid_t>& into);
    void list_threads(pid_t pid, std::vector<pid_t>& into);
    // Path of the program; "" if unknown.
    std::string program(pid_t pid);
    // The command line without secrets.
    std::string command(pid_t pid);

private:
    std::optional<std::string_view> read_of_thread(pid_t pid, pid_t thread, std::string_view name);
    std::optional<std::string_view> read_path(const char* path, std::size_t limit);
    static void list(const char* path, std::vector<pid_t>& into);

    std::string root_;
    std::string buffer_, path_;
};

// The length of a tick, and the boot time on the realtime clock.
std::int64_t ns_per_tick();
std::int64_t machine_start_ns();

}  // namespace gpuprof::cpu
