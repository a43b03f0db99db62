// A kernel that holds a stream until the host lets go: what is put in the queue behind it starts together, and the gaps
// between launches are not in its time. The idea is nvbench's (blocking_kernel.cuh); written here as PTX text, so that no
// compiler is needed. It spins on a word of host memory and gives up by the device's own clock, so that nothing can hang.
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
    // Puts it in the stream; it waits for release(), at most `patience`.
    Status hold(Stream stream, DurNs patience);
    void release();
    // After the stream was waited for: it did not give up by itself.
    bool held() const;
    void close();

private:
    const Api* api_ = nullptr;
    Module module_ = nullptr;
    Kernel kernel_ = nullptr;
    // Shared with the device: [0] 1 = let go, [1] 1 = gave up.
    volatile std::uint32_t* words_ = nullptr;
    DevicePointer words_on_device_ = 0;
};

}  // namespace gpuprof::measure::cuda
