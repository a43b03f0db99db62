// CUPTI's names of its result codes, because CUPTI 13.3 and later cannot describe codes without a driver.
// Source: cupti_result.h, CUPTI 13.0.
#pragma once

namespace gpuprof::inject {

// Null: unknown code.
constexpr const char* name_of_code(int code) noexcept {
    switch (code) {
        case 1: return "CUPTI_ERROR_INVALID_PARAMETER";
        case 2: return "CUPTI_ERROR_INVALID_DEVICE";
        case 3: return "CUPTI_ERROR_INVALID_CONTEXT";
        case 4: return "CUPTI_ERROR_INVALID_EVENT_DOMAIN_ID";
        case 5: return "CUPTI_ERROR_INVALID_EVENT_ID";
        case 6: return "CUPTI_ERROR_INVALID_EVENT_NAME";
        case 7: return "CUPTI_ERROR_INVALID_OPERATION";
        case 8: return "CUPTI_ERROR_OUT_OF_MEMORY";
        case 9: return "CUPTI_ERROR_HARDWARE";
        case 10: return "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT";
        case 11: return "CUPTI_ERROR_API_NOT_IMPLEMENTED";
        case 12: return "CUPTI_ERROR_MAX_LIMIT_REACHED";
        case 13: return "CUPTI_ERROR_NOT_READY";
        case 14: return "CUPTI_ERROR_NOT_COMPATIBLE";
        case 15: return "CUPTI_ERROR_NOT_INITIALIZED";
        case 16: return "CUPTI_ERROR_INVALID_METRIC_ID";
        case 17: return "CUPTI_ERROR_INVALID_METRIC_NAME";
        case 18: return "CUPTI_ERROR_QUEUE_EMPTY";
        case 19: return "CUPTI_ERROR_INVALID_HANDLE";
        case 20: return "CUPTI_ERROR_INVALID_STREAM";
        case 21: return "CUPTI_ERROR_INVALID_KIND";
        case 22: return "CUPTI_ERROR_INVALID_EVENT_VALUE";
        case 23: return "CUPTI_ERROR_DISABLED";
        case 24: return "CUPTI_ERROR_INVALID_MODULE";
        case 25: return "CUPTI_ERROR_INVALID_METRIC_VALUE";
        case 26: return "CUPTI_ERROR_HARDWARE_BUSY";
        case 27: return "CUPTI_ERROR_NOT_SUPPORTED";
        case 28: return "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED";
        case 29: return "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE";
        case 30: return "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES";
        case 31: return "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS";
        case 32: return "CUPTI_ERROR_CDP_TRACING_NOT_SUPPORTED";
        case 33: return "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED";
        case 34: return "CUPTI_ERROR_CUDA_COMPILER_NOT_COMPATIBLE";
        case 35: return "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
        case 36: return "CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED";
        case 37: return "CUPTI_ERROR_OPENACC_UNDEFINED_ROUTINE";
        case 38: return "CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED";
        case 39: return "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
        case 40: return "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES";
        case 41: return "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED";
        case 42: return "CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED";
        case 43: return "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED";
        case 44: return "CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED";
        case 45: return "CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED";
        case 46: return "CUPTI_ERROR_INVALID_CHIP_NAME";
        case 999: return "CUPTI_ERROR_UNKNOWN";
        default: return nullptr;
    }
}

// Whether no later call will change the answer of profiling: rights, virtual or unsupported GPUs, another owner, a missing library.
constexpr bool holds_for_all(int code) noexcept {
    switch (code) {
        case 11:
        case 14:
        case 15:
        case 26:
        case 27: return true;
        default: return code >= 33 && code <= 46;
    }
}

}  // namespace gpuprof::inject
