// The wrapper of every function of the C interface: converts C++ exceptions and errors into a code, and a message for
// gpuprof_last_error(), per thread.

#pragma once

#include <exception>
#include <new>
#include <string>

#include "core/base/result.h"

namespace gpuprof::capi {

inline thread_local std::string last_error;

inline int fail(const Error& error) {
    last_error = error.message;
    return static_cast<int>(error.code);
}

// Runs `step`, which returns Status, and converts exceptions into errors.
template <class Step>
int guarded(Step&& step) noexcept {
    try {
        last_error.clear();
        Status status = step();
        return status ? 0 : fail(status.error());
    } catch (const std::bad_alloc&) {
        return fail({ExitCode::internal, "out of memory"});
    } catch (const std::exception& error) {
        return fail({ExitCode::internal, error.what()});
    } catch (...) {
        return fail({ExitCode::internal, "unknown internal error"});
    }
}

}  // namespace gpuprof::capi
