// The part of NVML that is used, declared here so that building needs nothing from NVIDIA. Names, numbers and layouts
// follow the public interface (https://docs.nvidia.com/deploy/nvml-api); tests/python/monitor/test_nvml_abi.py compares sizes,
// offsets and constants with NVIDIA's own Python binding, nvidia-ml-py.
// The prototypes are only declared: the functions come from the driver's library (api.h) or from tests/fakes/nvml.
#pragma once

#include <cstdint>

namespace gpuprof::inline device::nvml {

// NVML_ERROR_*. Plain constants, because with an enum type an unknown number from a library would be undefined
// behaviour.
using Return = unsigned int;
inline constexpr Return kSuccess = 0, kUninitialized = 1, kInvalidArgument = 2, kNotSupported = 3, kNoPermission = 4,
                        kAlreadyInitialized = 5, kNotFound = 6, kInsufficientSize = 7, kInsufficientPower = 8,
                        kDriverNotLoaded = 9, kTimeout = 10, kIrqIssue = 11, kLibraryNotFound = 12,
                        kFunctionNotFound = 13, kCorruptedInforom = 14, kGpuIsLost = 15, kResetRequired = 16,
                        kOperatingSystem = 17, kLibRmVersionMismatch = 18, kInUse = 19, kMemory = 20, kNoData = 21,
                        kVgpuEccNotSupported = 22, kInsufficientResources = 23, kFreqNotSupported = 24,
                        kArgumentVersionMismatch = 25, kDeprecated = 26, kNotReady = 27, kGpuNotFound = 28,
                        kInvalidState = 29, kResetTypeNotSupported = 30, kUnknown = 999;

inline constexpr unsigned kUuidBytes = 80, kNameBytes = 96, kVersionBytes = 80;
inline constexpr unsigned kTemperatureGpu = 0;
inline constexpr unsigned kClockSm = 1, kClockMem = 2;
inline constexpr unsigned kEccCorrected = 0, kEccUncorrected = 1, kEccVolatile = 0;
inline constexpr unsigned kMigEnabled = 1;
inline constexpr unsigned long long kEventXid = 8;
inline constexpr unsigned long long kNotAvailable = ~0ULL;  // marks a missing value in a process reading

inline constexpr unsigned kGpmVersion = 1, kGpmMetricMax = 477;
inline constexpr unsigned kGpmSmUtil = 2, kGpmSmOccupancy = 3, kGpmAnyTensorUtil = 5, kGpmDramBwUtil = 10,
                          kGpmFp64Util = 11, kGpmFp32Util = 12, kGpmFp16Util = 13, kGpmPcieTx = 20, kGpmPcieRx = 21,
                          kGpmNvlinkRx = 60, kGpmNvlinkTx = 61;

using Device = struct nvmlDevice_st*;
using EventSet = struct nvmlEventSet_st*;
using GpmSample = struct nvmlGpmSample_st*;

struct Utilization {
    unsigned gpu, memory;
};
struct Memory {
    unsigned long long total, free, used;
};
struct MemoryV2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
// A struct version is its size, with the version number in the upper byte.
inline constexpr unsigned kMemoryV2 = sizeof(MemoryV2) | 2u << 24;
struct PciInfo {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};
struct ProcessV1 {
    unsigned pid;
    unsigned long long used_gpu_memory;
};
struct Process {  // versions 2 and 3
    unsigned pid;
    unsigned long long used_gpu_memory;
    unsigned gpu_instance_id, compute_instance_id;
};
struct ProcessUtilization {
    unsigned pid;
    unsigned long long time_stamp;
    unsigned sm_util, mem_util, enc_util, dec_util;
};
struct EventData {
    Device device;
    unsigned long long event_type, event_data;
    unsigned gpu_instance_id, compute_instance_id;
};
struct GpmSupport {
    unsigned version, is_supported_device;
};
struct GpmMetricNames {
    char *short_name, *long_name, *unit;
};
struct GpmMetric {
    unsigned metric_id;
    Return result;
    double value;
    GpmMetricNames names;
};
struct GpmMetricsGet {
    unsigned version, num_metrics;
    GpmSample sample1, sample2;
    GpmMetric metrics[kGpmMetricMax];
};

extern "C" {
Return nvmlInit_v2();
Return nvmlShutdown();
const char* nvmlErrorString(Return result);
Return nvmlSystemGetDriverVersion(char* version, unsigned length);
Return nvmlDeviceGetCount_v2(unsigned* count);
Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device);
Return nvmlDeviceGetHandleByUUID(const char* uuid, Device* device);
Return nvmlDeviceGetName(Device device, char* name, unsigned length);
Return nvmlDeviceGetUUID(Device device, char* uuid, unsigned length);
Return nvmlDeviceGetPciInfo_v3(Device device, PciInfo* pci);
Return nvmlDeviceGetUtilizationRates(Device device, Utilization* utilization);
Return nvmlDeviceGetMemoryInfo(Device device, Memory* memory);
Return nvmlDeviceGetMemoryInfo_v2(Device device, MemoryV2* memory);
Return nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatt);
Return nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned* milliwatt);
Return nvmlDeviceGetTotalEnergyConsumption(Device device, unsigned long long* millijoule);
Return nvmlDeviceGetTemperature(Device device, unsigned sensor, unsigned* celsius);
Return nvmlDeviceGetClockInfo(Device device, unsigned clock, unsigned* megahertz);
Return nvmlDeviceGetMaxClockInfo(Device device, unsigned clock, unsigned* megahertz);
Return nvmlDeviceGetPerformanceState(Device device, unsigned* pstate);
Return nvmlDeviceGetCurrentClocksEventReasons(Device device, unsigned long long* reasons);
Return nvmlDeviceGetCurrPcieLinkGeneration(Device device, unsigned* generation);
Return nvmlDeviceGetCurrPcieLinkWidth(Device device, unsigned* width);
Return nvmlDeviceGetTotalEccErrors(Device device, unsigned error_type, unsigned counter_type,
                                   unsigned long long* count);
Return nvmlDeviceGetComputeRunningProcesses(Device device, unsigned* count, void* processes);
Return nvmlDeviceGetComputeRunningProcesses_v2(Device device, unsigned* count, void* processes);
Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, void* processes);
Return nvmlDeviceGetGraphicsRunningProcesses(Device device, unsigned* count, void* processes);
Return nvmlDeviceGetGraphicsRunningProcesses_v2(Device device, unsigned* count, void* processes);
Return nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, unsigned* count, void* processes);
Return nvmlDeviceGetProcessUtilization(Device device, ProcessUtilization* samples, unsigned* count,
                                       unsigned long long since);
Return nvmlDeviceGetMigMode(Device device, unsigned* current, unsigned* pending);
Return nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned* count);
Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* mig);
Return nvmlDeviceGetGpuInstanceId(Device device, unsigned* id);
Return nvmlEventSetCreate(EventSet* set);
Return nvmlEventSetFree(EventSet set);
Return nvmlDeviceRegisterEvents(Device device, unsigned long long types, EventSet set);
Return nvmlEventSetWait_v2(EventSet set, EventData* data, unsigned timeout_ms);
Return nvmlGpmQueryDeviceSupport(Device device, GpmSupport* support);
Return nvmlGpmSampleAlloc(GpmSample* sample);
Return nvmlGpmSampleFree(GpmSample sample);
Return nvmlGpmSampleGet(Device device, GpmSample sample);
Return nvmlGpmMigSampleGet(Device device, unsigned gpu_instance, GpmSample sample);
Return nvmlGpmMetricsGet(GpmMetricsGet* request);
}

}  // namespace gpuprof::device::nvml
