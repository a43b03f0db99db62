// The fake libcuda.so.1 and its simulated device (tests/fakes/cuda/sim.h), for tests of the timers: no test waits.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "measure/bench_run.h"
#include "measure/cuda_timer.h"

namespace gpuprof::measure {

class SimStage {
public:
    explicit SimStage(const std::string& script) {
        setenv("GPUPROF_CUDA", GPUPROF_FAKES_DIR "/libcuda.so.1", 1);
        // The simulated NVML of another test stays loaded, and its GPU may be throttled.
        setenv("GPUPROF_NVML", GPUPROF_FAKES_DIR "/none", 0);
        EXPECT_EQ(function<int(const char*, int)>("fake_cuda_set")(script.c_str(), 1), 0) << script;
    }
    ~SimStage() {
        unsetenv("GPUPROF_CUDA");
        unsetenv("GPUPROF_NVML");
    }

    template <class Prototype>
    static Prototype* function(const char* name) {
        static void* library = dlopen(GPUPROF_FAKES_DIR "/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        void* found = library != nullptr ? dlsym(library, name) : nullptr;
        if (found == nullptr) ADD_FAILURE() << name << " is not in the fake libcuda";
        return reinterpret_cast<Prototype*>(found);
    }
    static TimeNs now() {
        static auto* read = function<std::int64_t()>("fake_cuda_now");
        return read();
    }
    static void spend(DurNs ns) {
        static auto* pass = function<void(std::int64_t)>("fake_cuda_spend");
        pass(ns);
    }
    static int launch(int kernel, std::uint64_t stream = 0) {
        static auto* put = function<int(int, void*)>("fake_cuda_launch");
        return put(kernel, reinterpret_cast<void*>(stream));
    }
    static void synchronize() { function<int()>("cuCtxSynchronize")(); }
    static bool throttled() { return function<int()>("fake_cuda_throttled")() != 0; }
    static std::int64_t calls(const char* name) { return function<std::int64_t(const char*)>("fake_cuda_calls")(name); }
    static std::size_t allocated() { return function<std::size_t()>("fake_cuda_allocated")(); }
    static HostClock clock() { return {now, spend}; }
    // Readings of the simulated device: a thermal slowdown while `throttle` is on.
    static std::optional<Reading> state(MetricSet due) {
        Reading reading;
        reading.time = now();
        if (due.has(Metric::throttle)) reading.set(Metric::throttle, throttled() ? 0x20 : 0);
        if (due.has(Metric::sm_clock)) reading.set(Metric::sm_clock, throttled() ? 1200 : 1980);
        if (due.has(Metric::energy)) reading.set(Metric::energy, static_cast<double>(now()) / 1e9 * 500);
        return reading;
    }

    Result<std::unique_ptr<Timer>> timer(const CudaOptions& options = {}) { return make_cuda_timer(options, clock()); }
    // Opens a timer and measures.
    Result<std::vector<Measurement>> run(std::span<const Work> works, const CudaOptions& cuda = {},
                                         const RunOptions& options = {}, const ReadState& read = {}) {
        auto opened = timer(cuda);
        if (!opened.ok()) return opened.error();
        return measure::run(works, **opened, read, options);
    }
    Measurement measure(int (*call)(void*), const CudaOptions& cuda = {}, const RunOptions& options = {},
                        const ReadState& read = {}) {
        Work work{.name = "f", .call = call};
        auto found = run(std::span(&work, 1), cuda, options, read);
        EXPECT_TRUE(found.ok()) << found.error().message;
        return found.ok() ? (*found)[0] : Measurement{};
    }
};

inline std::string all_notes(const Measurement& found) {
    std::string text;
    for (const std::string& note : found.notes) text += note + "\n";
    return text;
}

}  // namespace gpuprof::measure
