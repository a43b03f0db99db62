// CUPTI's callbacks around API functions, for as few functions as possible: calls that order streams (stream_calls.h),
// launches if their stacks are wanted (launch_stacks.h), and cuProfilerStart and cuProfilerStop if they open the window.
// And those about contexts and modules, if warps are sampled (stall_collector.h), and about the end of cuInit.
//
// CUPTI has one subscription for the whole process. Ours gives way: to a client whose calls arrive here (exports.cc),
// and to libraries that take the subscription behind our back, as soon as they are mapped. Without it, a replay infers
// which streams wait for each other.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "collect/inject/cupti/cupti_api.h"
#include "collect/inject/host/stream_calls.h"

namespace gpuprof::inject {

class Callbacks {
public:
    static constexpr std::uint32_t kFunctions = 2048, kMaxWatched = 128;

    // Notes a function that may be watched; all of them before start().
    void add_function(std::uint32_t domain, std::uint32_t cbid, const char* name) noexcept;
    // Subscribes. Within cuInit. Returns CUPTI's result, or success if another client shall have the subscription.
    int start(const Cupti& cupti) noexcept;
    // Whether calls arrive here. After start().
    bool subscribed() const noexcept { return subscriber_ != nullptr; }
    // Switches callbacks about streams on and off with the window, on the thread that switches kinds.
    void open() noexcept;
    void close() noexcept;
    // Gives up the subscription if a library that needs it was mapped. Spool thread only.
    void make_way() noexcept;
    // With several subscribers: a client in the process that CUPTI refuses, because it looks up the other interface in
    // CUPTI itself; null: none. Spool thread only.
    const char* kept_out() const noexcept { return kept_out_; }
    // Gives up the subscription for a client that subscribes now. False: ours stays, because it opens the window.
    bool give_up() noexcept;
    // Whether calls that order streams, and stacks of launches, are recorded: "recorded", or why they are not. "" before start().
    const char* state() const noexcept { return state_.load(std::memory_order_acquire); }

private:
    struct Watched {
        std::uint32_t domain = 0, cbid = 0;
        StreamFunction function;
        bool launch = false;  // then `function` is empty
    };
    static bool always_watched(const Watched& watched) noexcept;
    static void on_call(void* self, std::uint32_t domain, std::uint32_t cbid, const void* about) noexcept;
    void enable(bool on) noexcept;
    bool end_subscription(const char* state) noexcept;

    const Cupti* cupti_ = nullptr;
    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;  // of the subscription; callbacks never take it
    void* subscriber_ = nullptr;
    bool open_ = false;
    const char* kept_out_ = nullptr;
    std::uint32_t profiler_start_ = 0, profiler_stop_ = 0;
    unsigned long long mapped_ = 0;  // libraries when we last looked
    std::atomic<std::uint32_t> opening_{0};
    std::atomic<const char*> state_{""};
    Watched watched_[kMaxWatched];
    std::uint8_t count_ = 0;
    std::uint8_t place_[2][kFunctions] = {};  // in `watched_`, from 1, by domain: driver, runtime
};

}  // namespace gpuprof::inject
