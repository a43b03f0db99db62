// Benchmarks for C++ programs: a timer, opened once, and functions to measure with it. The C interface wraps this.
//
//   auto found = gpuprof::bench("scale", [&] { scale<<<blocks, threads, 0, stream>>>(x, n); }, options);
//   if (found) std::printf("%.3f us\n", found->statistics.median / 1e3);
//
// The function enqueues its work on options.cuda.stream and need not wait; with the host timer it returns when the work
// is done. It is called thousands of times, on the measuring thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "measure/bench_comparison.h"
#include "measure/bench_run.h"
#include "measure/cuda_timer.h"
#include "measure/measurement.h"
#include "measure/timer.h"

namespace gpuprof::measure {

struct BenchOptions {
    std::string timer =
        "auto";  // auto (CUDA events if there is a device, else the host clock and a note why), cuda, host
    CudaOptions cuda;
    RunOptions run;
    bool device_state = true;  // clocks, throttle reasons and energy from NVML
};

// Two functions that took turns. speedup = baseline / candidate.
struct PairedResult {
    Measurement baseline, candidate;
    Comparison comparison;
};

// A Work that calls a function object, which must outlive it.
template <class Function>
Work work_of(std::string name, Function& function) {
    Work work;
    work.name = std::move(name);
    work.user = const_cast<void*>(static_cast<const void*>(&function));
    work.call = [](void* user) {
        static_cast<void>((*static_cast<Function*>(user))());
        return 0;
    };
    return work;
}

class Bench {
public:
    static Result<Bench> open(const BenchOptions& options = {});
    std::string_view timer() const { return timer_->name(); }
    // One measurement per work; several works take turns.
    Result<std::vector<Measurement>> run(std::span<const Work> works);
    Result<DeviceMemory> memory() { return timer_->memory(); }

    template <class Function>
    Result<Measurement> measure(std::string name, Function&& function) {
        Work work = work_of(std::move(name), function);
        auto found = run(std::span(&work, 1));
        if (!found.ok()) return found.error();
        return std::move(found->front());
    }
    template <class Baseline, class Candidate>
    Result<PairedResult> compare(Baseline&& baseline, Candidate&& candidate) {
        Work works[] = {work_of("baseline", baseline), work_of("candidate", candidate)};
        auto found = run(works);
        if (!found.ok()) return found.error();
        Comparison compared = measure::compare((*found)[0].samples, (*found)[1].samples, {.paired = true});
        return PairedResult{std::move((*found)[0]), std::move((*found)[1]), std::move(compared)};
    }

private:
    RunOptions options_;
    std::unique_ptr<Timer> timer_;
    ReadState state_;
    std::vector<std::string> notes_;  // from opening; in every measurement
};

}  // namespace gpuprof::measure

namespace gpuprof {

// Measures one function with a separate timer.
template <class Function>
Result<measure::Measurement> bench(std::string name, Function&& function, const measure::BenchOptions& options = {}) {
    Result<measure::Bench> opened = measure::Bench::open(options);
    if (!opened.ok()) return opened.error();
    return opened->measure(std::move(name), std::forward<Function>(function));
}

}  // namespace gpuprof
