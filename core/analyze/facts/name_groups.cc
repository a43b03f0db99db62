#include "core/analyze/facts/name_groups.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace gpuprof::inline facts {
namespace {

constexpr std::size_t kMinItemsForThreads = 200'000;  // about a millisecond of work; a thread starts in 50 us

}  // namespace

void for_each_group(std::size_t n, std::size_t items, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    auto take = [&] {
        for (std::size_t i = next++; i < n; i = next++) work(i);
    };
    std::size_t threads =
        std::min<std::size_t>({n, std::thread::hardware_concurrency(), items / kMinItemsForThreads + 1});
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(take);
    take();
    for (std::thread& other : others) other.join();
}

}  // namespace gpuprof::facts
