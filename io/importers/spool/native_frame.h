// Native frames that every launch has, by function and file name, and which say nothing about the program.
#pragma once

#include <initializer_list>
#include <string_view>

namespace gpuprof::inline importers {

inline bool begins_with_one_of(std::string_view text, std::initializer_list<std::string_view> beginnings) {
    for (std::string_view each : beginnings)
        if (text.starts_with(each)) return true;
    return false;
}

// Innermost: the recorder, CUPTI, the driver and the runtime, which may be linked into a program statically.
inline bool is_launching(std::string_view function, std::string_view module) {
    return begins_with_one_of(module, {"libgpuprof", "libcupti", "libcuda.so", "libcudart", "libToolsInjection"}) ||
           begins_with_one_of(function, {"cudaLaunch", "cudaGraphLaunch", "cuLaunch", "cuGraphLaunch", "__cudart",
                                         "libcudart_static"});
}
inline bool is_interpreter(std::string_view function, std::string_view module) {
    return function.find("PyEval_EvalFrame") != std::string_view::npos ||
           begins_with_one_of(module, {"python", "libpython"});
}
// Outermost: what the C library does before main() or a thread's function.
inline bool starts_thread(std::string_view function, std::string_view module) {
    return begins_with_one_of(module, {"libc.so", "libpthread.so", "ld-linux", "libc-2", "libpthread-2"}) ||
           function == "_start";
}

}  // namespace gpuprof::importers
