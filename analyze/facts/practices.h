// What the recording shows the program does already, so that no remedy asks for it.
#pragma once

namespace gpuprof::inline facts {

class Facts;

struct Practices {
    bool half_products = false;      // most time of matrix products is in types of 16 bits or fewer
    bool graphs = false;             // most kernels come from CUDA graphs
    bool foreach_optimizer = false;  // optimizers update many tensors per kernel
    bool fused_optimizer = false;    // and do all of an update in one
    bool compiled = false;           // a compiler generated kernels that take much of the time (Inductor)
    bool channels_last = false;      // convolutions read NHWC tensors, without conversions
    static Practices make(const Facts& facts);
};

}  // namespace gpuprof::facts
