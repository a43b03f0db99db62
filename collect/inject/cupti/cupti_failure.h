// A call of CUPTI that failed.
#pragma once

namespace gpuprof::inject {

struct CuptiFailure {
    const char* function = nullptr;  // null: none
    int code = 0;
    explicit operator bool() const noexcept { return function != nullptr; }
};

// As CUPTI would say it of a function that the library lacks (CUPTI_ERROR_API_NOT_IMPLEMENTED), and without memory.
inline constexpr int kFunctionMissing = 11, kOutOfMemory = 8;

// Calls a function of CUPTI with a structure of parameters; a failure is the result of the calling function. Needs
// cupti_api.h, and `cupti` in scope.
#define GPUPROF_CUPTI_CALL(name, parameters)                                             \
    do {                                                                                 \
        int code = cupti.name == nullptr ? kFunctionMissing : cupti.name(&(parameters)); \
        if (code != kCuptiSuccess) return {#name, code};                                 \
    } while (false)

}  // namespace gpuprof::inject
