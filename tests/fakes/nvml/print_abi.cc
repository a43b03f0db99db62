// Prints collect/device/nvml/nvml_abi.h as JSON: sizes, offsets and constants, by NVIDIA's names. tests/python/monitor/test_nvml_abi.py
// compares them with nvidia-ml-py.
#include <cstddef>
#include <cstdio>

#include "collect/device/nvml/nvml_abi.h"

using namespace gpuprof::nvml;

namespace {

const char* separator = "";

void print(const char* kind, const char* name, unsigned long long value) {
    std::printf("%s\n  \"%s %s\": %llu", separator, kind, name, value);
    separator = ",";
}

}  // namespace

#define SIZE(ours, theirs) print("sizeof", #theirs, sizeof(ours))
#define OFFSET(ours, theirs, field, their_field) print("offsetof", #theirs "." #their_field, offsetof(ours, field))
#define CONSTANT(ours, theirs) print("constant", #theirs, ours)

int main() {
    std::printf("{");
    SIZE(Utilization, c_nvmlUtilization_t);
    OFFSET(Utilization, c_nvmlUtilization_t, gpu, gpu);
    OFFSET(Utilization, c_nvmlUtilization_t, memory, memory);
    SIZE(Memory, c_nvmlMemory_t);
    OFFSET(Memory, c_nvmlMemory_t, total, total);
    OFFSET(Memory, c_nvmlMemory_t, free, free);
    OFFSET(Memory, c_nvmlMemory_t, used, used);
    SIZE(MemoryV2, c_nvmlMemory_v2_t);
    OFFSET(MemoryV2, c_nvmlMemory_v2_t, total, total);
    OFFSET(MemoryV2, c_nvmlMemory_v2_t, reserved, reserved);
    OFFSET(MemoryV2, c_nvmlMemory_v2_t, free, free);
    OFFSET(MemoryV2, c_nvmlMemory_v2_t, used, used);
    SIZE(PciInfo, nvmlPciInfo_t);
    OFFSET(PciInfo, nvmlPciInfo_t, bus_id, busId);
    SIZE(Process, c_nvmlProcessInfo_v3_t);
    OFFSET(Process, c_nvmlProcessInfo_v3_t, pid, pid);
    OFFSET(Process, c_nvmlProcessInfo_v3_t, used_gpu_memory, usedGpuMemory);
    SIZE(ProcessUtilization, c_nvmlProcessUtilizationSample_t);
    OFFSET(ProcessUtilization, c_nvmlProcessUtilizationSample_t, pid, pid);
    OFFSET(ProcessUtilization, c_nvmlProcessUtilizationSample_t, time_stamp, timeStamp);
    OFFSET(ProcessUtilization, c_nvmlProcessUtilizationSample_t, sm_util, smUtil);
    SIZE(EventData, c_nvmlEventData_t);
    OFFSET(EventData, c_nvmlEventData_t, device, device);
    OFFSET(EventData, c_nvmlEventData_t, event_type, eventType);
    OFFSET(EventData, c_nvmlEventData_t, event_data, eventData);
    SIZE(GpmSupport, c_nvmlGpmSupport_t);
    OFFSET(GpmSupport, c_nvmlGpmSupport_t, is_supported_device, isSupportedDevice);
    SIZE(GpmMetric, c_nvmlGpmMetric_t);
    OFFSET(GpmMetric, c_nvmlGpmMetric_t, metric_id, metricId);
    OFFSET(GpmMetric, c_nvmlGpmMetric_t, result, nvmlReturn);
    OFFSET(GpmMetric, c_nvmlGpmMetric_t, value, value);
    SIZE(GpmMetricsGet, c_nvmlGpmMetricsGet_t);
    OFFSET(GpmMetricsGet, c_nvmlGpmMetricsGet_t, num_metrics, numMetrics);
    OFFSET(GpmMetricsGet, c_nvmlGpmMetricsGet_t, sample1, sample1);
    OFFSET(GpmMetricsGet, c_nvmlGpmMetricsGet_t, sample2, sample2);
    OFFSET(GpmMetricsGet, c_nvmlGpmMetricsGet_t, metrics, metrics);
    CONSTANT(kMemoryV2, nvmlMemory_v2);
    CONSTANT(kUninitialized, NVML_ERROR_UNINITIALIZED);
    CONSTANT(kInvalidArgument, NVML_ERROR_INVALID_ARGUMENT);
    CONSTANT(kNotSupported, NVML_ERROR_NOT_SUPPORTED);
    CONSTANT(kNoPermission, NVML_ERROR_NO_PERMISSION);
    CONSTANT(kNotFound, NVML_ERROR_NOT_FOUND);
    CONSTANT(kInsufficientSize, NVML_ERROR_INSUFFICIENT_SIZE);
    CONSTANT(kDriverNotLoaded, NVML_ERROR_DRIVER_NOT_LOADED);
    CONSTANT(kTimeout, NVML_ERROR_TIMEOUT);
    CONSTANT(kLibraryNotFound, NVML_ERROR_LIBRARY_NOT_FOUND);
    CONSTANT(kFunctionNotFound, NVML_ERROR_FUNCTION_NOT_FOUND);
    CONSTANT(kGpuIsLost, NVML_ERROR_GPU_IS_LOST);
    CONSTANT(kResetRequired, NVML_ERROR_RESET_REQUIRED);
    CONSTANT(kLibRmVersionMismatch, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
    CONSTANT(kArgumentVersionMismatch, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    CONSTANT(kGpuNotFound, NVML_ERROR_GPU_NOT_FOUND);
    CONSTANT(kUnknown, NVML_ERROR_UNKNOWN);
    CONSTANT(kTemperatureGpu, NVML_TEMPERATURE_GPU);
    CONSTANT(kClockSm, NVML_CLOCK_SM);
    CONSTANT(kClockMem, NVML_CLOCK_MEM);
    CONSTANT(kEccCorrected, NVML_MEMORY_ERROR_TYPE_CORRECTED);
    CONSTANT(kEccUncorrected, NVML_MEMORY_ERROR_TYPE_UNCORRECTED);
    CONSTANT(kEccVolatile, NVML_VOLATILE_ECC);
    CONSTANT(kMigEnabled, NVML_DEVICE_MIG_ENABLE);
    CONSTANT(kEventXid, nvmlEventTypeXidCriticalError);
    CONSTANT(kGpmVersion, NVML_GPM_METRICS_GET_VERSION);
    CONSTANT(kGpmMetricMax, NVML_GPM_METRIC_MAX);
    CONSTANT(kGpmSmUtil, NVML_GPM_METRIC_SM_UTIL);
    CONSTANT(kGpmSmOccupancy, NVML_GPM_METRIC_SM_OCCUPANCY);
    CONSTANT(kGpmAnyTensorUtil, NVML_GPM_METRIC_ANY_TENSOR_UTIL);
    CONSTANT(kGpmDramBwUtil, NVML_GPM_METRIC_DRAM_BW_UTIL);
    CONSTANT(kGpmFp64Util, NVML_GPM_METRIC_FP64_UTIL);
    CONSTANT(kGpmFp32Util, NVML_GPM_METRIC_FP32_UTIL);
    CONSTANT(kGpmFp16Util, NVML_GPM_METRIC_FP16_UTIL);
    CONSTANT(kGpmPcieTx, NVML_GPM_METRIC_PCIE_TX_PER_SEC);
    CONSTANT(kGpmPcieRx, NVML_GPM_METRIC_PCIE_RX_PER_SEC);
    CONSTANT(kGpmNvlinkRx, NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC);
    CONSTANT(kGpmNvlinkTx, NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC);
    std::printf("\n}\n");
}
