// A program on a machine without noise: host threads, streams that keep their order and hold 1,024 launches, events, copies and calls
// that block. It writes the recording that a profiler would have made, and it can run again with something altered, which gives
// the truth that a replay of the recording must find. Every delay is a constant, so what a replay takes from the recording is exact.
//
// Actions happen in the order of the program, each at the time of the current thread; nothing depends on a later action, so
// that no queue of events is needed. Times in ns.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/analyze/draft.h"

namespace gpuprof::test {

// What is unlike the recorded program.
struct Altered {
    double input = 1, host = 1, kernels = 1, collectives = 1;  // factors of their time
    bool waits = true;                                         // whether calls that synchronize wait
    bool pageable = true;                                      // whether memory of blocking copies is pageable
    bool allocations = true;                                   // whether allocations and releases take time
};

class Machine {
public:
    static constexpr DurNs kLaunchCall = 5'000, kLaunchLatency = 2'000;  // latency from the return of the call
    static constexpr DurNs kKernelGap = 1'300, kCopyGap = 5'000, kAfterCopy = 1'150, kEventGap = 1'150;
    static constexpr DurNs kQueueDepth = 1'024, kRoom = 2'000;
    static constexpr DurNs kSyncCall = 3'000, kStreamReturn = 6'000, kDeviceReturn = 15'000, kFreeReturn = 9'000;
    static constexpr DurNs kAsyncCopyCall = 8'000, kCopyLatency = 4'000;  // latency from the start of the call
    static constexpr DurNs kToDeviceReturn = 3'000, kToHostReturn = 60'000, kPinnedReturn = 4'000;
    static constexpr DurNs kEventCall = 2'000, kMallocCall = 40'000, kFreeCall = 4'000;
    static constexpr double kPageable = 11, kPinned = 55;  // bytes per ns

    // `sync_rows`: whether the recording says for which streams and events a call waits.
    explicit Machine(Altered altered, bool sync_rows = true) : altered_(altered), sync_rows_(sync_rows) {}

    void step(const std::function<void()>& body) {
        TimeNs start = now();
        step_end_ = start;
        body();
        draft_.range(thread_, start, now(), "ProfilerStep#" + std::to_string(completions_.size()));
        completions_.push_back(std::max(now(), step_end_));
    }
    // Host code.
    void work(DurNs time) { now() += scaled(time, altered_.host); }
    void input(DurNs time) {
        TimeNs start = now();
        now() += scaled(time, altered_.input);
        draft_.range(thread_, start, now(), "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    }
    void launch(std::int64_t stream, DurNs time, const std::string& name = "gemm") {
        Stream& on = streams_[stream];
        TimeNs start = now();
        now() += kLaunchCall;
        if (on.starts.size() >= kQueueDepth) now() = std::max(now(), on.starts[on.starts.size() - kQueueDepth] + kRoom);
        call(start, "cudaLaunchKernel");
        bool collective = name.starts_with("nccl");
        time = scaled(scaled(time, collective ? altered_.collectives : 1), altered_.kernels);
        TimeNs begun = run(on, now() + kLaunchLatency, time, false);
        draft_.kernel(0, stream, begun, begun + time, name, correlation_);
    }
    // A copy that blocks the thread, of pageable memory unless altered.
    void blocking_copy(std::int64_t stream, std::int64_t bytes, bool to_device) {
        Stream& on = streams_[stream];
        TimeNs start = now();
        auto time = static_cast<DurNs>(static_cast<double>(bytes) / (altered_.pageable ? kPageable : kPinned));
        TimeNs begun = run(on, start + kCopyLatency, time, true), end = begun + time;
        now() += altered_.pageable ? kSyncCall : kAsyncCopyCall;
        if (altered_.pageable)
            now() = std::max(now(), end + (to_device ? kToDeviceReturn : kToHostReturn));
        else if (!to_device)
            now() = std::max(now(), end + kPinnedReturn);
        call(start, "cudaMemcpyAsync");
        Row row = draft_.memcpy(0, stream, begun, end, to_device ? "HtoD" : "DtoH", bytes, correlation_);
        MemcpyTable& copies = draft_.tables().memcpy;
        copies.src.change(row, draft_.intern(to_device ? "pageable" : "device"));
        copies.dst.change(row, draft_.intern(to_device ? "device" : "pageable"));
    }
    // A copy of pinned memory that blocks nothing.
    void copy(std::int64_t stream, std::int64_t bytes, bool to_device = true) {
        Stream& on = streams_[stream];
        TimeNs start = now();
        auto time = static_cast<DurNs>(static_cast<double>(bytes) / kPinned);
        TimeNs begun = run(on, start + kCopyLatency, time, true);
        now() += kAsyncCopyCall;
        call(start, "cudaMemcpyAsync");
        draft_.memcpy(0, stream, begun, begun + time, to_device ? "HtoD" : "DtoH", bytes, correlation_);
    }
    void synchronize(std::int64_t stream) {
        TimeNs start = now();
        wait_until(streams_[stream].end + kStreamReturn);
        call(start, "cudaStreamSynchronize");
        if (sync_rows_) sync_row(start, stream, "Stream Sync");
    }
    void synchronize_device() {
        TimeNs start = now();
        wait_until(last_end() + kDeviceReturn);
        call(start, "cudaDeviceSynchronize");
    }
    void allocate() { timed(altered_.allocations ? kMallocCall : 0, "cudaMalloc"); }
    void release() {
        TimeNs start = now();
        if (altered_.allocations) now() = std::max(now() + kFreeCall, last_end() + kFreeReturn);
        call(start, "cudaFree");
    }
    // What is on a stream now.
    struct Event {
        std::int64_t stream = 0, call = 0;
        TimeNs end = 0;
    };
    Event record(std::int64_t stream) {
        TimeNs end = streams_[stream].end;
        timed(kEventCall, "cudaEventRecord");
        return {stream, correlation_, end};
    }
    // What comes next on a stream waits for the event.
    void wait(std::int64_t stream, const Event& event) {
        timed(kEventCall, "cudaStreamWaitEvent");
        if (!streams_[event.stream].starts.empty())
            streams_[stream].gate = std::max(streams_[stream].gate, event.end + kEventGap);
        if (sync_rows_) event_row(now(), "Stream Wait Event", event, stream);
    }
    void order(std::int64_t from, std::int64_t to) { wait(to, record(from)); }
    void synchronize(const Event& event) {
        TimeNs start = now();
        wait_until(event.end + kStreamReturn);
        call(start, "cudaEventSynchronize");
        if (sync_rows_) event_row(start, "Event Sync", event, std::nullopt);
    }
    // The current thread waits while another one works.
    void hand_over(const std::string& thread, const std::function<void()>& body) {
        constexpr DurNs kWake = 5'000, kResume = 7'000;
        TimeNs paused = now();
        std::string before = std::exchange(thread_, thread);
        now() = std::max(now(), paused + kWake);
        TimeNs start = now();
        body();
        draft_.op(thread_, start, now(), "autograd::engine::evaluate_function");
        TimeNs done = now();
        thread_ = before;
        now() = done + kResume;
    }

    // When each step was complete: its host end or the end of the last op that it launched, whichever is later.
    const std::vector<TimeNs>& completions() const { return completions_; }
    // On a GPU with PCIe 5, whose pinned copies reach kPinned.
    Trace recording() {
        DeviceTable& devices = draft_.tables().device;
        Row row = devices.add();
        devices.device.set(row, 0);
        devices.name.set(row, draft_.intern("NVIDIA H200"));
        devices.cc_major.set(row, 9);
        devices.cc_minor.set(row, 0);
        return draft_.finish();
    }

private:
    struct Stream {
        std::vector<TimeNs> starts;
        TimeNs end = 0, gate = 0;
        bool after_copy = false;
    };

    TimeNs& now() { return now_[thread_]; }
    static DurNs scaled(DurNs time, double factor) { return std::llround(static_cast<double>(time) * factor); }
    // Puts an op on a stream that could start at `ready`; its start.
    TimeNs run(Stream& on, TimeNs ready, DurNs time, bool copy) {
        DurNs gap = copy ? kCopyGap : on.after_copy ? kAfterCopy : kKernelGap;
        TimeNs start = std::max(ready, on.gate);
        if (!on.starts.empty()) start = std::max(start, on.end + gap);
        on.starts.push_back(start);
        on.end = start + time, on.after_copy = copy;
        step_end_ = std::max(step_end_, on.end);
        return start;
    }
    TimeNs last_end() const {
        TimeNs end = 0;
        for (const auto& [id, stream] : streams_) end = std::max(end, stream.end);
        return end;
    }
    void wait_until(TimeNs time) {
        now() += kSyncCall;
        if (altered_.waits) now() = std::max(now(), time);
    }
    void timed(DurNs time, const char* name) {
        TimeNs start = now();
        now() += time;
        call(start, name);
    }
    void call(TimeNs start, const char* name) { draft_.call(thread_, start, now(), name, ++correlation_); }
    Row sync_row(TimeNs start, std::optional<std::int64_t> stream, const char* kind) {
        SyncTable& syncs = draft_.tables().sync;
        Row row = syncs.add();
        syncs.start.set(row, start), syncs.dur.set(row, 0);
        if (stream) syncs.stream.set(row, *stream);
        syncs.kind.set(row, draft_.intern(kind));
        syncs.process.set(row, draft_.process());
        syncs.correlation.set(row, correlation_);
        return row;
    }
    void event_row(TimeNs start, const char* kind, const Event& event, std::optional<std::int64_t> stream) {
        Row row = sync_row(start, stream, kind);
        draft_.tables().sync.wait_on_stream.set(row, event.stream);
        draft_.tables().sync.wait_on_correlation.set(row, event.call);
    }

    Altered altered_;
    bool sync_rows_;
    Draft draft_;
    std::string thread_ = "main";
    std::map<std::string, TimeNs> now_;
    std::map<std::int64_t, Stream> streams_;
    std::vector<TimeNs> completions_;
    TimeNs step_end_ = 0;
    std::int64_t correlation_ = 0;
};

}  // namespace gpuprof::test
