// The driver's library as a struct of functions that return a Status: libcuda.so.1, or the absolute path in
// GPUPROF_CUDA (ignored in a program with raised privileges). Neither building nor running needs a CUDA toolkit. Each
// error is one sentence: the function, its code, what it means, and what to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "measure/cuda_symbols.def"

namespace gpuprof::measure::cuda {

using Device = int;
using Context = void*;
using Stream = void*;
using Event = void*;
using Module = void*;
using Kernel = void*;
using Graph = void*;
using GraphExec = void*;
using DevicePointer = std::uint64_t;

constexpr int kSuccess = 0, kOutOfMemory = 2;
// CU_DEVICE_ATTRIBUTE_...
constexpr int kMultiprocessorCount = 16, kMemoryClockRate = 36, kMemoryBusWidth = 37, kL2CacheSize = 38;
constexpr int kCapabilityMajor = 75, kCapabilityMinor = 76;

// The error for `code` from `function`.
Error explain(const std::string& function, int code);

template <class Prototype>
struct Function;

template <class... Parameters>
struct Function<void(Parameters...)> {
    int (*pointer)(Parameters...) = nullptr;
    const char* name = "";

    Status operator()(Parameters... arguments) const {
        if (pointer == nullptr)
            return Error{ExitCode::unreadable,
                         std::string("libcuda.so.1 lacks the function ") + name + ": the driver is too old; update it"};
        if (int code = pointer(arguments...); code != kSuccess) return explain(name, code);
        return {};
    }
};

struct Api {
    std::string path;  // of the library
#define GPUPROF_CUDA_MEMBER(member, name, older, parameters) Function<void parameters> member;
    GPUPROF_CUDA_FUNCTIONS(GPUPROF_CUDA_MEMBER)
#undef GPUPROF_CUDA_MEMBER
};

// Loads the library without calling it.
Result<Api> load_api();

}  // namespace gpuprof::measure::cuda
