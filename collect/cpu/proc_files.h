// Reads what the system tells of processes and threads in /proc (proc(5)). A process may go away between any two reads:
// then there is no answer, which is no error. Paths begin with a root, so that tests can show a made-up system.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof {

// The fields of /proc/PID/stat and /proc/PID/task/TID/stat that are used here. Times are in ticks of the system.
struct ProcStat {
    pid_t parent = 0;
    char state = '?';
    std::string_view name;  // of the text that was parsed
    std::int64_t user_ticks = 0, system_ticks = 0;
    std::int64_t start_ticks = 0;  // since the machine started
    std::int64_t resident_pages = 0;
};

// A name may hold blanks and brackets: it ends with the last ")".
std::optional<ProcStat> parse_stat(std::string_view text);

class ProcFiles {
public:
    explicit ProcFiles(std::string root = "/proc") : root_(std::move(root)) {}

    // The file PID/NAME, up to `limit` bytes; good until the next read. Absent when it cannot be read.
    std::optional<std::string_view> read(pid_t pid, std::string_view name, std::size_t limit = 4096);
    std::optional<ProcStat> stat(pid_t pid);
    std::optional<ProcStat> stat(pid_t pid, pid_t thread);
    // Every process; every thread of one. Empty when it is gone.
    void list_processes(std::vector<pid_t>& into);
    void list_threads(pid_t pid, std::vector<pid_t>& into);
    // The program's file; "" when it is not to be known.
    std::string program(pid_t pid);
    // The command line without secrets.
    std::string command(pid_t pid);

private:
    std::optional<std::string_view> read_path(const char* path, std::size_t limit);
    static void list(const char* path, std::vector<pid_t>& into);

    std::string root_;
    std::string buffer_, path_;
};

// The length of a tick, and the moment the machine started on the realtime clock.
std::int64_t ns_per_tick();
std::int64_t machine_start_ns();

}  // namespace gpuprof
