// Who wrote the work that was recorded, and for which hardware: what advice has to fit. A framework is known by what it
// alone leaves in a recording (its operators, kernels, ranges, recorder), a language by what it left beside.
#pragma once

#include <cstdint>

namespace gpuprof {

class Facts;

enum class Framework : std::uint8_t { none, pytorch, jax, tensorflow, tensorrt };

struct Context {
    Framework framework = Framework::none;
    bool python = false;      // the program runs Python: a framework of it, frames or samples of it
    bool directives = false;  // OpenACC or OpenMP: the compiler wrote the kernels
    bool amd = false;
    // The lowest compute capability of the devices with work, times ten (V100: 70); 0 = not known.
    int capability = 0;
    bool tensor_cores = false;  // on all of them, as far as it is known
    bool tf32 = false, bf16 = false;

    bool pytorch() const { return framework == Framework::pytorch; }
    static Context make(const Facts& facts);
};

}  // namespace gpuprof
