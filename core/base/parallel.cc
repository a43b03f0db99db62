#include "core/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace gpuprof::inline base {

unsigned default_threads() { return std::clamp(std::thread::hardware_concurrency(), 1u, 8u); }

void run_parallel(std::size_t tasks, unsigned threads, const std::function<void(std::size_t, unsigned)>& run) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::exception_ptr failed;
    auto work = [&](unsigned worker) noexcept {
        try {
            for (std::size_t task = next++; task < tasks; task = next++) run(task, worker);
        } catch (...) {
            std::lock_guard lock(mutex);
            if (!failed) failed = std::current_exception();
            next = tasks;
        }
    };
    std::vector<std::thread> others;
    for (unsigned worker = 1; worker < threads && worker < tasks; ++worker) {
        try {
            others.emplace_back(work, worker);
        } catch (const std::exception&) {
            break;  // the system refuses a thread or memory for it: fewer do the work
        }
    }
    work(0);
    for (std::thread& other : others) other.join();
    if (failed) std::rethrow_exception(failed);
}

void run_together(std::size_t items, const std::vector<std::function<void()>>& functions) {
    constexpr std::size_t kMinItems = 200'000;  // about a millisecond of work; a thread starts in 50 us
    run_parallel(functions.size(), items < kMinItems ? 1 : default_threads(),
                 [&](std::size_t i, unsigned) { functions[i](); });
}

}  // namespace gpuprof::base
