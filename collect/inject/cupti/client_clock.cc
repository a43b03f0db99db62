#include "collect/inject/cupti/client_clock.h"

#include <time.h>

#include "core/base/clock.h"

namespace gpuprof::inject {
namespace {

constexpr std::uint64_t kMinBase = 2'000'000;  // ns; a bracket of 100 ns then distorts the rate by 5e-5
constexpr int kReadings = 5;

ClockPair read_both(ClientClock::Function function) noexcept {
    ClockPair best;
    std::uint64_t narrowest = ~std::uint64_t{0};
    for (int i = 0; i < kReadings; ++i) {
        auto before = static_cast<std::uint64_t>(realtime_ns());
        std::uint64_t ticks = function();
        auto after = static_cast<std::uint64_t>(realtime_ns());
        if (after - before >= narrowest) continue;
        narrowest = after - before;
        best = {before + narrowest / 2, ticks};
    }
    return best;
}

}  // namespace

ClockLine::ClockLine(ClockPair from, ClockPair to) noexcept : from_(from) {
    if (to.ns > from.ns && to.ticks > from.ticks)
        slope_ = static_cast<double>(to.ticks - from.ticks) / static_cast<double>(to.ns - from.ns);
}

std::uint64_t ClockLine::ticks_at(std::uint64_t ns) const noexcept {
    if (!given() || ns == 0) return ns;
    auto since = static_cast<double>(static_cast<std::int64_t>(ns - from_.ns));
    return from_.ticks + static_cast<std::uint64_t>(static_cast<std::int64_t>(slope_ * since));
}

void ClientClock::set(Function function) noexcept {
    if (function != nullptr) {
        ClockPair since = read_both(function);
        since_ns_.store(since.ns, std::memory_order_relaxed);
        since_ticks_.store(since.ticks, std::memory_order_relaxed);
    }
    function_.store(function, std::memory_order_release);
}

ClockLine ClientClock::line() const noexcept {
    Function function = function_.load(std::memory_order_acquire);
    if (function == nullptr) return {};
    ClockPair from{since_ns_.load(std::memory_order_relaxed), since_ticks_.load(std::memory_order_relaxed)};
    auto age = static_cast<std::uint64_t>(realtime_ns()) - from.ns;
    if (age < kMinBase) {
        timespec rest{0, static_cast<long>(kMinBase - age)};
        nanosleep(&rest, nullptr);
    }
    return {from, read_both(function)};
}

}  // namespace gpuprof::inject
