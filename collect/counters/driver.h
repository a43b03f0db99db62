// The NVIDIA driver, for the process of host_process.h.
#pragma once

#include <cstdint>
#include <utility>

#include "collect/device/running_call.h"
#include "collect/dl/library.h"
#include "collect/pm/pm_errors.h"

namespace gpuprof::counters {

class Driver {
public:
    static Result<Driver> open();

    // Calls one function of the driver; a missing one answers 500 (not found), as in CUDA.
    template <class... Arguments>
    int call(const char* name, Arguments... arguments) const {
        auto function = reinterpret_cast<int (*)(Arguments...)>(library_.symbol(name));
        if (function == nullptr) return 500;
        RunningCallScope mark(name);
        return function(arguments...);
    }
    template <class... Arguments>
    Status need(const char* name, Arguments... arguments) const {
        int code = call(name, arguments...);
        return code == 0 ? Status() : Status(pm::explain_cuda(name, code));
    }

    // The number of devices, and the primary context of the first one, made current.
    struct FirstDevice {
        int count = 0;
        void* context = nullptr;
    };
    Result<FirstDevice> first_device() const;

private:
    explicit Driver(Library library) : library_(std::move(library)) {}
    Library library_;
};

}  // namespace gpuprof::counters
