// Another client's clock. CUPTI lets a client register a function that returns its time (Kineto's reads the CPU's
// time-stamp counter) and then writes all records in that clock. Our records stay in CLOCK_REALTIME: the function is
// kept here instead and read together with our clock, at registration and now. The times of the client's copies are
// mapped along the line through both readings.
#pragma once

#include <atomic>
#include <cstdint>

namespace gpuprof::inject {

// One moment on both clocks: of several readings, the one with the narrowest bracket.
struct ClockPair {
    std::uint64_t ns = 0, ticks = 0;
};

// A linear map from ns to ticks. Without two distinct moments, times are unchanged.
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
    // Null removes it.
    void set(Function function) noexcept;
    Function registered() const noexcept { return function_.load(std::memory_order_acquire); }  // null: none
    // The line through the registration and now; waits briefly if both are the same moment.
    ClockLine line() const noexcept;

private:
    std::atomic<Function> function_{nullptr};
    std::atomic<std::uint64_t> since_ns_{0}, since_ticks_{0};
};

}  // namespace gpuprof::inject
