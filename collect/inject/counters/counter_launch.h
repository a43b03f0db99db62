// A kernel launch as CUPTI's callback shows it: the function of the driver, and its arguments. Launches of the runtime
// pass through these functions too; and the functions of the driver that are watched and called. Source: generated_cuda_meta.h (arguments) and cuda.h (CUlaunchConfig) of CUDA 13.0.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "collect/inject/cupti/cupti_api.h"

namespace gpuprof::inject {

// How a function of the driver concerns counters.
enum class LaunchKind : std::uint8_t {
    none,
    kernel,     // cuLaunchKernel, cuLaunchCooperativeKernel
    kernel_ex,  // cuLaunchKernelEx
    multi_device,
    graph,
    begin_capture,
    end_capture
};
// By the function's name, which may end in _ptsz (streams per thread).
LaunchKind launch_kind(const char* function) noexcept;

struct LaunchArguments {
    std::uint32_t grid[3]{}, block[3]{};
    std::uint32_t dynamic_shared_bytes = 0;
    std::uint32_t cluster = 0;  // blocks per cluster; 0: none
    void* stream = nullptr;
};
// Of a kernel launch; false if there are no arguments.
bool read_launch(LaunchKind kind, const CallbackData& call, LaunchArguments& arguments) noexcept;

// The driver's functions that the measurement of counters asks; looked up in the library that the program uses. None of them
// submits work. Within a callback of CUPTI only synchronize() may be called.
struct Driver {
    int (*current_context)(void** context) = nullptr;
    int (*synchronize)() = nullptr;

    void load() noexcept {
        void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return;
        auto find = [library](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        };
        find(current_context, "cuCtxGetCurrent");
        find(synchronize, "cuCtxSynchronize");
    }
};

// The driver's functions that concern counters, by their callback ids, which differ between versions of CUPTI.
class CounterFunctions {
public:
    static constexpr std::uint32_t kFunctions = 2048;
    struct Watched {
        LaunchKind kind = LaunchKind::none;
        bool per_thread = false;  // streams per thread
    };

    // `cbid` is below kFunctions.
    const Watched& operator[](std::uint32_t cbid) const noexcept { return watched_[cbid]; }

    // Before enable().
    void find(const Cupti& cupti) noexcept {
        constexpr std::uint32_t kMaxNameless = 256;
        for (std::uint32_t cbid = 1, nameless = 0; cbid < kFunctions && nameless < kMaxNameless; ++cbid) {
            const char* name = nullptr;
            ++nameless;
            if (cupti.cuptiGetCallbackName(kDriverDomain, cbid, &name) != kCuptiSuccess || name == nullptr) continue;
            nameless = 0;
            LaunchKind kind = launch_kind(name);
            if (kind != LaunchKind::none) watched_[cbid] = {kind, std::strstr(name, "_ptsz") != nullptr};
        }
    }
    void enable(const Cupti& cupti, void* subscriber) const noexcept {
        for (std::uint32_t cbid = 1; cbid < kFunctions; ++cbid)
            if (watched_[cbid].kind != LaunchKind::none) cupti.cuptiEnableCallback(1, subscriber, kDriverDomain, cbid);
    }

private:
    Watched watched_[kFunctions];
};

}  // namespace gpuprof::inject
