// The wrapper of every function of the C interface: converts C++ exceptions and errors into a code, and a message for
// gpuprof_last_error(), per thread.

#pragma once

#include <cxxabi.h>

#include <exception>
#include <new>
#include <string>

#include "core/base/caught.h"
#include "core/base/result.h"

#ifdef _LIBCPP_VERSION  // libc++ has it and does not declare it
namespace __cxxabiv1 {
struct __cxa_eh_globals;
extern "C" __cxa_eh_globals* __cxa_get_globals();
}  // namespace __cxxabiv1
#endif

namespace gpuprof::capi {

inline thread_local std::string last_error;

inline int fail(const Error& error) noexcept {
    try {
        last_error = error.message;
    } catch (const std::bad_alloc&) {
        last_error = "out of memory";  // fits into the string itself
    }
    return static_cast<int>(error.code);
}

inline int fail_with(const char* what) noexcept {
    try {
        return fail({ExitCode::internal, what});
    } catch (const std::bad_alloc&) {
        return fail(out_of_memory());
    }
}

// Runs `step`, which returns Status, and converts exceptions into errors.
template <class Step>
int guarded(Step&& step) noexcept {
    // The first exception of a thread needs memory for the runtime's variables, and the C library ends the process if there is none. So they
    // are made before; volatile, because the compiler sees no use of them.
    [[maybe_unused]] auto* volatile prepared = abi::__cxa_get_globals();
    try {
        last_error.clear();
        Status status = step();
        return status ? 0 : fail(status.error());
    } catch (const std::bad_alloc&) {
        return fail(out_of_memory());
    } catch (const std::exception& error) {
        return fail_with(error.what());
    } catch (...) {
        return fail(internal_error());
    }
}

}  // namespace gpuprof::capi
