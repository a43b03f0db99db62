#include "collect/inject/counters/counter_plan_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace gpuprof::inject {

std::optional<CounterPlan> map_counter_plan(const char* folder) noexcept {
    char path[4096];
    int length = std::snprintf(path, sizeof path, "%s/%s", folder, kCounterPlanFile);
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) return std::nullopt;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return std::nullopt;
    struct stat about {};
    void* memory = MAP_FAILED;
    if (fstat(fd, &about) == 0 && about.st_size > 0)
        memory = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (memory == MAP_FAILED) return std::nullopt;
    std::optional<CounterPlan> plan =
        decode_counter_plan({static_cast<const char*>(memory), static_cast<std::size_t>(about.st_size)});
    bool whole = plan && !plan->metrics.empty() && (!plan->config.empty() || plan->scope == CounterScope::instructions);
    return whole ? std::move(plan) : std::nullopt;
}

}  // namespace gpuprof::inject
