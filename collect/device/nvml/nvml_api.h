// The driver's library as a struct of functions, generated from symbols.def. Every NVML call goes through Function. It
// marks the call for the watcher (call_mark.h), returns kFunctionNotFound for functions that the library lacks, and
// skips functions that hung or crashed before.
// Single-threaded.
#pragma once

#include <span>
#include <string>

#include "collect/device/nvml/nvml_abi.h"
#include "collect/device/nvml/nvml_errors.h"
#include "collect/device/nvml/nvml_symbols.def"
#include "collect/device/running_call.h"
#include "core/base/result.h"

namespace gpuprof::inline device::nvml {

template <class Prototype>
struct Function;

template <class... Parameters>
struct Function<Return(Parameters...)> {
    using Pointer = Return (*)(Parameters...);
    Pointer pointer = nullptr;
    const char* name = "";  // as the library spells it
    bool avoided = false;

    Return operator()(Parameters... arguments) const {
        if (avoided) return kAvoided;
        if (!pointer) return kFunctionNotFound;
        RunningCallScope mark(name);
        return pointer(arguments...);
    }
};

struct Api {
    std::string path;  // of the library
#define GPUPROF_NVML_MEMBER(need, name, older) Function<decltype(nvml::name)> name;
    GPUPROF_NVML_FUNCTIONS(GPUPROF_NVML_MEMBER)
#undef GPUPROF_NVML_MEMBER
};

// Loads libnvidia-ml.so.1, or the absolute path in GPUPROF_NVML (ignored in a program with raised privileges). Calls
// none of its functions.
Result<Api> load_api(std::span<const std::string> avoid);

}  // namespace gpuprof::device::nvml
