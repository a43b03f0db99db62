// The other CUPTI client of this process and its buffers. CUPTI fills only our buffers. Records that the other client
// requested are copied into buffers from its own request function and passed to its own complete function, as CUPTI
// would do. A client that has handed out no buffer may believe that there is nothing to flush (Kineto does), so one is
// requested as soon as it switches something on.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "collect/inject/cupti/cupti_api.h"
#include "collect/inject/cupti/cupti_multiplexer.h"
#include "core/format/cupti_records.h"

namespace gpuprof::inject {

// Another client's clock. CUPTI lets a client register a function that returns its time (Kineto's reads the CPU's
// time-stamp counter) and then writes all records in that clock. Our records stay in CLOCK_REALTIME: the function is
// kept here instead and read together with our clock, at registration and now. The times of the client's copies are
// mapped along the line through both readings.

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

class OtherClient {
public:
    void set_callbacks(RequestBuffer to_request, CompleteBuffer to_complete) noexcept;
    bool present() const noexcept { return complete_.load(std::memory_order_acquire) != nullptr; }
    void set_clock(ClientClock::Function function) noexcept { clock_.set(function); }
    ClientClock::Function clock() const noexcept { return clock_.registered(); }  // null: CUPTI's
    // It switches a kind on or off: records belong to it from now on, or until now.
    void note_on(std::uint32_t kind) noexcept;
    void note_off(std::uint32_t kind) noexcept;
    // The kind could not be switched off.
    void note_still_on(std::uint32_t kind) noexcept;
    // Whether one of its buffers is available.
    void prepare() noexcept;
    // Copies the records that it requested from a buffer that returned to us.
    void copy(const Cupti& cupti, std::uint8_t* bytes, std::size_t valid) noexcept;
    // Gives it the copies made so far; first waits up to half a second for buffers that are being returned.
    void hand_over() noexcept;
    // While this object lives, buffers may return on some thread: our own flush, or a buffer being copied.
    class InFlightGuard {
    public:
        InFlightGuard() noexcept;
        ~InFlightGuard();
        InFlightGuard(const InFlightGuard&) = delete;
        InFlightGuard& operator=(const InFlightGuard&) = delete;
    };
    // A buffer of the client that CUPTI held before we subscribed.
    void give_back(void* context, std::uint32_t stream, std::uint8_t* bytes, std::size_t size,
                   std::size_t valid) noexcept;
    // It has unsubscribed.
    void forget() noexcept;

    std::uint64_t copied() const noexcept { return copied_.load(std::memory_order_relaxed); }
    // It provided no buffer, or one that is too small.
    std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

private:
    struct ClientBuffer {  // a buffer of the other client
        std::uint8_t* bytes = nullptr;
        std::size_t size = 0, used = 0, max_records = 0, records = 0;
    };
    static constexpr std::size_t kMaxBuffers = 16;

    ClientBuffer take() noexcept;
    void put_back(ClientBuffer out) noexcept;
    bool request(ClientBuffer& out) noexcept;
    void complete(const ClientBuffer& out) noexcept;
    bool is_its(const cupti::Record& record) const noexcept;
    bool add(ClientBuffer& out, const std::uint8_t* record, std::size_t bytes, const ClockLine& line) noexcept;

    std::atomic<RequestBuffer> request_{nullptr};
    std::atomic<CompleteBuffer> complete_{nullptr};
    std::atomic<std::uint64_t> since_[CuptiMultiplexer::kKinds] = {}, until_[CuptiMultiplexer::kKinds] = {};
    std::atomic<std::uint64_t> copied_{0}, refused_{0};
    std::atomic<int> in_flight_{0};
    ClientClock clock_;
    pthread_mutex_t lock_ =
        PTHREAD_MUTEX_INITIALIZER;       // guards waiting_, for a few instructions; nothing is called under it
    ClientBuffer waiting_[kMaxBuffers];  // with records, or prepared
};

OtherClient& other_client() noexcept;

}  // namespace gpuprof::inject
