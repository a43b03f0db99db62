// The driver's functions that the measurement of counters asks; looked up in the library that the program uses.
#pragma once

#include <dlfcn.h>

#include <type_traits>

namespace gpuprof::inject {

// The functions of the driver that are used. None of them submits work.
struct Driver {
    int (*is_capturing)(void* stream, int* status) = nullptr;
    int (*is_capturing_per_thread)(void* stream, int* status) = nullptr;
    int (*current_context)(void** context) = nullptr;
    int (*synchronize)() = nullptr;

    void load() noexcept {
        void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return;
        auto find = [library](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        };
        find(is_capturing, "cuStreamIsCapturing");
        find(is_capturing_per_thread, "cuStreamIsCapturing_ptsz");
        find(current_context, "cuCtxGetCurrent");
        find(synchronize, "cuCtxSynchronize");
    }
};

}  // namespace gpuprof::inject
