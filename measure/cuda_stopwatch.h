// Two events around work that somebody else puts on a stream: the device's own time of it. For a caller that runs the work
// itself and has a clock of its own to hold beside it (`evaluate`); bench has CudaTimer. Opening loads the driver and touches
// no device, so that it can be done before untrusted code is there. The context is the caller's: the one that is current.
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/result.h"
#include "measure/cuda_api.h"
#include "measure/cuda_block.h"
#include "measure/timer.h"

namespace gpuprof::measure {

struct Lap {
    double device_ns = 0;  // from the first event to the second, by the device's clock
    // How long the whole device was still busy after the second event: work that went to other streams. Host's clock.
    double beyond_ns = 0;
    double idle_wait_ns = 0;  // the same wait when the device had nothing to do: what beyond_ns is at the least
    bool held = false;        // the stream was held until stop(), so that gaps between launches are not in device_ns
};

class CudaStopwatch {
public:
    static Result<CudaStopwatch> open(const HostClock& clock);
    CudaStopwatch(CudaStopwatch&&) = default;
    CudaStopwatch& operator=(CudaStopwatch&&) = delete;
    ~CudaStopwatch() { close(); }

    // Waits for the device, and marks the begin on `stream` (a CUstream as an integer). `hold`: nothing that comes after
    // runs before stop(), unless that takes longer than 200 ms.
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
