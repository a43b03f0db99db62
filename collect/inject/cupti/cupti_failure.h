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

// Calls a function of CUPTI with a structure of parameters.
template <class Parameters>
CuptiFailure call_cupti(int (*function)(Parameters*), const char* name, Parameters& parameters) noexcept {
    int code = function == nullptr ? kFunctionMissing : function(&parameters);
    return code == 0 ? CuptiFailure() : CuptiFailure{name, code};
}

// The same of a function by its name; needs cupti_api.h, and `cupti` in scope.
#define GPUPROF_CUPTI_CALL(name, parameters) call_cupti(cupti.name, #name, parameters)

}  // namespace gpuprof::inject
