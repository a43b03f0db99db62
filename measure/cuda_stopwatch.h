// Two events around work that the caller enqueues on a stream: its time by the device's clock. For a caller that runs
// the work itself and compares with its own clock (`evaluate`); bench uses CudaTimer. Opening loads the driver without
// touching a device, so it can happen before untrusted code is loaded. The caller's current context is used.
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/result.h"
#include "measure/cuda_api.h"
#include "measure/cuda_block.h"
#include "measure/timer.h"

namespace gpuprof::measure {

struct Lap {
    double device_ns = 0;  // between the two events, by the device's clock
    // How long the device stayed busy after the second event: work on other streams. Host clock.
    double beyond_ns = 0;
    double idle_wait_ns = 0;  // the same wait on an idle device: the minimum of beyond_ns
    bool held = false;  // the stream was blocked until stop(), so device_ns does not include gaps between launches
};

class CudaStopwatch {
public:
    static Result<CudaStopwatch> open(const HostClock& clock);
    CudaStopwatch(CudaStopwatch&&) = default;
    CudaStopwatch& operator=(CudaStopwatch&&) = delete;
    ~CudaStopwatch() { close(); }

    // Waits for the device and records the start on `stream` (a CUstream as an integer). `hold`: later work does not
    // run before stop(), or for at most 200 ms.
    Status start(std::uint64_t stream, bool hold);
    Status stop();
    // Waits for the stream, then for the device.
    Result<Lap> read();
    void close();

private:
    explicit CudaStopwatch(const HostClock& clock) : clock_(clock) {}
    Status open_events();

    HostClock clock_;
    std::unique_ptr<cuda::Api> api_;  // the block points to it
    cuda::Context context_ = nullptr;
    cuda::Event begin_ = nullptr, end_ = nullptr;
    cuda::Block block_;
    cuda::Stream stream_ = nullptr;
    Lap lap_;
};

}  // namespace gpuprof::measure
