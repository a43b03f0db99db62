// A libnvidia-ml.so.1 that plays a script (script.h): starting, finding devices, and their plain values. Each function is a
// line or few: which field, in which unit of NVML's. nvmlInitWithFlags is for NVIDIA's Python binding.
#include <cstdlib>

#include "tests/fakes/nvml/nvml_play.h"

namespace gpuprof::nvml {

using namespace fake_nvml;

extern "C" {

Return nvmlInit_v2() {
    const char* path = std::getenv("GPUPROF_FAKE_NVML");
    std::unique_ptr<Machine>& slot = machines[path ? path : ""];
    if (!slot) {
        slot = std::make_unique<Machine>();
        if (Return code = read_script(path, *slot); code != kSuccess) return slot.reset(), code;
    }
    machine = slot.get();
    Fate fate = fate_of("nvmlInit_v2", nullptr);
    if (fate.code == kSuccess) ++initialised;
    return fate.code;
}
Return nvmlInit() { return nvmlInit_v2(); }
Return nvmlInitWithFlags(unsigned) { return nvmlInit_v2(); }

Return nvmlShutdown() {
    if (!initialised) return kUninitialized;
    --initialised;
    return kSuccess;
}

const char* nvmlErrorString(Return) { return "an answer of the fake NVML"; }

Return nvmlSystemGetDriverVersion(char* version, unsigned length) {
    auto fill = [&] { return copy_text(machine->driver, version, length); };
    return play(__func__, nullptr, fill, version);
}

Return nvmlDeviceGetCount_v2(unsigned* count) {
    auto fill = [&] { return *count = static_cast<unsigned>(machine->gpus.size()), kSuccess; };
    return play(__func__, nullptr, fill, count);
}
Return nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }

Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
    FakeDevice* found = machine && index < machine->gpus.size() ? machine->gpus[index] : nullptr;
    auto fill = [&] { return *device = reinterpret_cast<Device>(found), found ? kSuccess : kInvalidArgument; };
    return play(__func__, found, fill, device);
}
Return nvmlDeviceGetHandleByIndex(unsigned index, Device* device) {
    return nvmlDeviceGetHandleByIndex_v2(index, device);
}

Return nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
    FakeDevice* found = nullptr;
    if (machine)
        for (FakeDevice& one : machine->devices)
            if (one.uuid == uuid) found = &one;
    auto fill = [&] { return *device = reinterpret_cast<Device>(found), found ? kSuccess : kNotFound; };
    return play(__func__, found, fill, device);
}

Return nvmlDeviceGetName(Device device, char* name, unsigned length) {
    return ask_text(__func__, device, &FakeDevice::name, name, length);
}
Return nvmlDeviceGetUUID(Device device, char* uuid, unsigned length) {
    return ask_text(__func__, device, &FakeDevice::uuid, uuid, length);
}

Return nvmlDeviceGetPciInfo_v3(Device handle, PciInfo* pci) {
    auto fill = [&](FakeDevice& device) {
        *pci = {};
        copy_text(device.pci, pci->bus_id, sizeof pci->bus_id);
        copy_text(device.pci.substr(4), pci->bus_id_legacy, sizeof pci->bus_id_legacy);
        return kSuccess;
    };
    return ask(__func__, handle, false, fill, pci);
}

Return nvmlDeviceGetUtilizationRates(Device handle, Utilization* utilization) {
    auto fill = [&](FakeDevice& device) {
        *utilization = {static_cast<unsigned>(device.next("util_gpu")), static_cast<unsigned>(device.next("util_mem"))};
        return kSuccess;
    };
    return ask(__func__, handle, false, fill, utilization);
}

Return nvmlDeviceGetMemoryInfo(Device handle, Memory* memory) {
    auto fill = [&](FakeDevice& device) {
        memory->total = static_cast<unsigned long long>(device.memory_mib * 1024 * 1024);
        memory->used = static_cast<unsigned long long>(device.next("mem_used_mb") * 1024 * 1024);
        memory->free = memory->total - memory->used;
        return kSuccess;
    };
    return ask(__func__, handle, true, fill, memory);
}

Return nvmlDeviceGetMemoryInfo_v2(Device handle, MemoryV2* memory) {
    auto fill = [&](FakeDevice& device) -> Return {
        if (memory->version != kMemoryV2) return kArgumentVersionMismatch;
        memory->total = static_cast<unsigned long long>(device.memory_mib * 1024 * 1024);
        memory->used = static_cast<unsigned long long>(device.next("mem_used_mb") * 1024 * 1024);
        memory->reserved = 0;
        memory->free = memory->total - memory->used;
        return kSuccess;
    };
    return ask(__func__, handle, true, fill, memory);
}

Return nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatt) {
    return ask_field(__func__, device, "power_w", 1000, milliwatt);
}
Return nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned* milliwatt) {
    return ask_field(__func__, device, "power_limit_w", 1000, milliwatt);
}
Return nvmlDeviceGetTotalEnergyConsumption(Device device, unsigned long long* millijoule) {
    return ask_field(__func__, device, "energy_j", 1000, millijoule);
}
Return nvmlDeviceGetTemperature(Device device, unsigned, unsigned* celsius) {
    return ask_field(__func__, device, "temp_c", 1, celsius);
}
Return nvmlDeviceGetClockInfo(Device device, unsigned clock, unsigned* megahertz) {
    return ask_field(__func__, device, clock == kClockMem ? "mem_clock_mhz" : "sm_clock_mhz", 1, megahertz);
}
Return nvmlDeviceGetMaxClockInfo(Device device, unsigned clock, unsigned* megahertz) {
    return ask_field(__func__, device, clock == kClockMem ? "mem_clock_max_mhz" : "sm_clock_max_mhz", 1, megahertz);
}
Return nvmlDeviceGetPerformanceState(Device device, unsigned* pstate) {
    return ask_field(__func__, device, "pstate", 1, pstate);
}
Return nvmlDeviceGetCurrentClocksEventReasons(Device device, unsigned long long* reasons) {
    return ask_field(__func__, device, "throttle_reasons", 1, reasons);
}
Return nvmlDeviceGetCurrPcieLinkGeneration(Device device, unsigned* generation) {
    return ask_field(__func__, device, "pcie_gen", 1, generation);
}
Return nvmlDeviceGetCurrPcieLinkWidth(Device device, unsigned* width) {
    return ask_field(__func__, device, "pcie_width", 1, width);
}
Return nvmlDeviceGetTotalEccErrors(Device device, unsigned type, unsigned, unsigned long long* count) {
    return ask_field(__func__, device, type == kEccCorrected ? "ecc_corrected" : "ecc_uncorrected", 1, count);
}

}  // extern "C"

}  // namespace gpuprof::nvml
