#include "cli/ranks/second_try.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>

#include "core/base/text/readable.h"

namespace gpuprof::inline cli {
namespace {

constexpr const char* kOutOfMemory = "out of memory";  // how the program says it (cli/main.cc, core/base/pod_vector.h)

// Libraries may answer a failed allocation with an abort or a bad access instead of a message; without a limit, only the
// kernel's killer of processes speaks of memory.
bool short_of_memory(const ChildEnd& end, std::uint64_t limit) {
    if (limit == 0) return end.signal == SIGKILL;
    return end.signal != 0 || end.problem.starts_with(kOutOfMemory);
}

}  // namespace

std::uint64_t free_memory() {
    std::ifstream about("/proc/meminfo");
    std::string word;
    for (std::uint64_t kib = 0; about >> word;)
        if (word == "MemAvailable:" && about >> kib) return kib << 10;
    auto pages = static_cast<std::uint64_t>(std::max(sysconf(_SC_AVPHYS_PAGES), 0L));
    return pages * static_cast<std::uint64_t>(std::max(sysconf(_SC_PAGESIZE), 1L));
}

ChildEnd run_twice(const std::function<ChildEnd(std::uint64_t memory)>& run, std::uint64_t memory,
                   const std::function<std::uint64_t()>& free) {
    ChildEnd end = run(memory);
    if (end.ok || !short_of_memory(end, memory)) return end;
    auto text = [](std::uint64_t bytes) { return readable_bytes(static_cast<double>(bytes)); };
    std::uint64_t more = 2 * memory;
    if (more > free()) {
        end.problem += fmt::format(" with --memory {}; {} for a second try are not free", text(memory), text(more));
        return end;
    }
    ChildEnd second = run(more);
    if (!second.ok && short_of_memory(second, more))
        second.problem += memory > 0 ? fmt::format(" with --memory {}, and with {}", text(memory), text(more))
                                     : std::string(", twice");
    return second;
}

}  // namespace gpuprof::cli
