// What every function of the C interface runs in: what C++ throws or answers becomes a code, and a line for
// gpuprof_last_error(), per thread.
#pragma once

#include <exception>
#include <string>

#include "core/base/result.h"

namespace gpuprof::capi {

inline thread_local std::string last_error;

inline int fail(const Error& error) {
    last_error = error.message;
    return static_cast<int>(error.code);
}

// Runs `step`, which answers Status, and turns what it throws into an error.
template <class Step>
int guarded(Step&& step) noexcept {
    try {
        last_error.clear();
        Status status = step();
        return status ? 0 : fail(status.error());
    } catch (const std::exception& error) {
        return fail({ExitCode::internal, error.what()});
    } catch (...) {
        return fail({ExitCode::internal, "an unknown failure"});
    }
}

}  // namespace gpuprof::capi
