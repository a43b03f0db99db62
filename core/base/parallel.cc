#include "core/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace gpuprof::inline base {

unsigned default_threads() { return std::clamp(std::thread::hardware_concurrency(), 1u, 8u); }

void run_parallel(std::size_t tasks, unsigned threads, const std::function<void(std::size_t, unsigned)>& run) {
    std::atomic<std::size_t> next{0};
    auto work = [&](unsigned worker) {
        for (std::size_t task = next++; task < tasks; task = next++) run(task, worker);
    };
    std::vector<std::thread> others;
    for (unsigned worker = 1; worker < threads && worker < tasks; ++worker) {
        try {
            others.emplace_back(work, worker);
        } catch (const std::system_error&) {
            break;
        }
    }
    work(0);
    for (std::thread& other : others) other.join();
}

}  // namespace gpuprof::base
