// The C interface of measure/cuda_stopwatch.h.
#include "capi/gpuprof.h"
#include "capi/guard.h"
#include "measure/cuda_stopwatch.h"

using namespace gpuprof;
using capi::guarded;

struct gpuprof_stopwatch {
    measure::CudaStopwatch watch;
};

namespace {

template <class Step>
int with(gpuprof_stopwatch* stopwatch, Step&& step) {
    return guarded([&]() -> Status {
        if (stopwatch == nullptr) return Error{ExitCode::usage, "stopwatch must not be NULL"};
        return step(stopwatch->watch);
    });
}

}  // namespace

extern "C" {

int gpuprof_stopwatch_open(gpuprof_stopwatch** stopwatch) {
    return guarded([&]() -> Status {
        if (stopwatch == nullptr) return Error{ExitCode::usage, "stopwatch must not be NULL"};
        *stopwatch = nullptr;
        Result<measure::CudaStopwatch> opened = measure::CudaStopwatch::open(measure::real_clock());
        if (!opened.ok()) return opened.error();
        *stopwatch = new gpuprof_stopwatch{std::move(*opened)};
        return {};
    });
}

int gpuprof_stopwatch_start(gpuprof_stopwatch* stopwatch, uint64_t stream, int32_t hold) {
    return with(stopwatch, [&](measure::CudaStopwatch& watch) { return watch.start(stream, hold != 0); });
}

int gpuprof_stopwatch_stop(gpuprof_stopwatch* stopwatch) {
    return with(stopwatch, [](measure::CudaStopwatch& watch) { return watch.stop(); });
}

int gpuprof_stopwatch_read(gpuprof_stopwatch* stopwatch, gpuprof_lap* lap) {
    return with(stopwatch, [&](measure::CudaStopwatch& watch) -> Status {
        if (lap == nullptr || lap->size < sizeof(gpuprof_lap))
            return Error{ExitCode::usage, "gpuprof_lap.size must be sizeof(gpuprof_lap)"};
        Result<measure::Lap> found = watch.read();
        if (!found.ok()) return found.error();
        *lap = {lap->size, found->device_ns, found->beyond_ns, found->idle_wait_ns, found->held ? 1 : 0};
        return {};
    });
}

void gpuprof_stopwatch_free(gpuprof_stopwatch* stopwatch) {
    guarded([&]() -> Status {
        if (stopwatch != nullptr) stopwatch->watch.close();
        delete stopwatch;
        return {};
    });
}

}  // extern "C"
