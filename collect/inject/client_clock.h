// Another client's clock. CUPTI lets a client register a function that tells its time (Kineto's reads the processor's
// counter) and then writes all records in that clock. Ours stay in CLOCK_REALTIME: the function is kept here instead, read
// beside our clock at the beginning and now, and the copies' times are put on the line through both readings.
#pragma once

#include <atomic>
#include <cstdint>

namespace gpuprof::inject {

// One moment on both clocks; the reading with the narrowest bracket of a few.
struct ClockPair {
    std::uint64_t ns = 0, ticks = 0;
};

// A line from ns to ticks. Without two moments apart it leaves times as they are.
class ClockLine {
public:
    ClockLine() = default;
    ClockLine(ClockPair from, ClockPair to) noexcept;
    bool given() const noexcept { return slope_ != 0; }
    std::uint64_t ticks_at(std::uint64_t ns) const noexcept;

private:
    ClockPair from_;
    double slope_ = 0;
};

class ClientClock {
public:
    using Function = std::uint64_t (*)();
    // Null takes it away.
    void set(Function function) noexcept;
    bool given() const noexcept { return function_.load(std::memory_order_acquire) != nullptr; }
    // The line through the registration and now; waits a little when both are the same moment.
    ClockLine line() const noexcept;

private:
    std::atomic<Function> function_{nullptr};
    std::atomic<std::uint64_t> since_ns_{0}, since_ticks_{0};
};

}  // namespace gpuprof::inject
