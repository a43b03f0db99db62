// Which software wrote the recorded work, and for which hardware: advice has to fit both. A framework is detected by
// what only it leaves in a recording (operators, kernels, ranges, recorder), a language by its traces next to them.
#pragma once

#include <cstdint>

namespace gpuprof::inline facts {

class Facts;

enum class Framework : std::uint8_t { none, pytorch, jax, tensorflow, tensorrt };

struct Context {
    Framework framework = Framework::none;
    bool python = false;      // the program runs Python: a Python framework, Python frames or samples
    bool directives = false;  // OpenACC or OpenMP: the compiler wrote the kernels
    bool amd = false;
    bool server = false;  // of language models, whose engine steps are known
    // The lowest compute capability of the devices with work, times ten (V100: 70); 0 = unknown.
    int capability = 0;
    bool tensor_cores = false;  // on every device whose capability is known
    bool tf32 = false, bf16 = false;

    bool pytorch() const { return framework == Framework::pytorch; }
    static Context make(const Facts& facts);
};

}  // namespace gpuprof::facts
