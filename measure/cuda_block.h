// A kernel that blocks a stream until the host releases it. Work enqueued behind it starts together, so its time does
// not include gaps between launches. The idea is nvbench's (blocking_kernel.cuh); it is written as PTX text, so that no
// compiler is needed. It spins on a word of host memory and times out by the device's clock, so nothing can hang.
#pragma once

#include <cstdint>

#include "core/base/ids.h"
#include "measure/cuda_api.h"

namespace gpuprof::measure::cuda {

class Block {
public:
    // Loads the kernel into the current context. `api` must outlive this.
    Status open(const Api& api);
    bool is_open() const { return kernel_ != nullptr; }
    // Enqueues it on the stream; it waits for release(), at most `timeout`.
    Status hold(Stream stream, DurNs timeout);
    void release();
    // Call after synchronising the stream: whether it did not time out.
    bool held() const;
    void close();

private:
    const Api* api_ = nullptr;
    Module module_ = nullptr;
    Kernel kernel_ = nullptr;
    // Shared with the device: [0] = 1 releases, [1] = 1 reports a timeout.
    volatile std::uint32_t* words_ = nullptr;
    DevicePointer words_on_device_ = 0;
};

}  // namespace gpuprof::measure::cuda
