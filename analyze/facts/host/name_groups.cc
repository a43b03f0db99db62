#include "analyze/facts/host/name_groups.h"

#include <algorithm>
#include <thread>

#include "core/base/parallel.h"

namespace gpuprof::inline facts {
namespace {

constexpr std::size_t kMinItemsForThreads = 200'000;  // about a millisecond of work; a thread starts in 50 us

}  // namespace

void for_each_group(std::size_t n, std::size_t items, const std::function<void(std::size_t)>& work) {
    auto threads = static_cast<unsigned>(
        std::min<std::size_t>({n, std::thread::hardware_concurrency(), items / kMinItemsForThreads + 1}));
    run_parallel(n, threads, [&](std::size_t i, unsigned) { work(i); });
}

}  // namespace gpuprof::facts
