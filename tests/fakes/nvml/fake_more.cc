// The rest of the fake: processes, MIG, error events, GPM.
#include <fstream>

#include "tests/fakes/nvml/nvml_play.h"

namespace fake_nvml {
namespace {

// 0 if the file does not say it yet.
unsigned pid_of(const FakeProcess& process) {
    unsigned pid = process.pid;
    if (!process.pid_file.empty()) std::ifstream(process.pid_file) >> pid;
    return pid;
}

Return list_processes(const char* function, Device handle, bool graphics, unsigned bytes, unsigned* count, void* out) {
    if (auto entry = machine ? machine->entry_bytes.find(function) : decltype(machine->entry_bytes.end()){};
        machine && entry != machine->entry_bytes.end())
        bytes = entry->second;
    auto fill = [&](FakeDevice& device) -> Return {
        unsigned room = *count, found = 0;
        for (const FakeProcess& process : device.processes) {
            unsigned pid = pid_of(process);
            if (process.graphics != graphics || pid == 0) continue;
            if (out && found < room) {
                unsigned char entry[64] = {};
                Process common{pid, static_cast<unsigned long long>(process.memory_mib * 1024 * 1024), ~0u, ~0u};
                std::memcpy(entry, &common, bytes < sizeof common ? bytes : sizeof common);
                std::memcpy(static_cast<char*>(out) + std::size_t{found} * bytes, entry, bytes);
            }
            ++found;
        }
        *count = found;
        return found > room ? kInsufficientSize : kSuccess;
    };
    return ask(function, handle, true, fill, count);
}

const char* gpm_field(unsigned id) {
    switch (id) {
        case kGpmSmUtil: return "gpm_sm_active";
        case kGpmSmOccupancy: return "gpm_sm_occupancy";
        case kGpmAnyTensorUtil: return "gpm_tensor";
        case kGpmFp64Util: return "gpm_fp64";
        case kGpmFp32Util: return "gpm_fp32";
        case kGpmFp16Util: return "gpm_fp16";
        case kGpmDramBwUtil: return "gpm_dram";
        case kGpmPcieTx: return "gpm_pcie_tx_mib_per_s";
        case kGpmPcieRx: return "gpm_pcie_rx_mib_per_s";
        case kGpmNvlinkTx: return "gpm_nvlink_tx_mib_per_s";
        case kGpmNvlinkRx: return "gpm_nvlink_rx_mib_per_s";
        default: return nullptr;
    }
}

// By handle: the device it was taken of. Handles that were never given out are known as such.
std::map<GpmSample, FakeDevice*> samples;
std::uintptr_t next_sample = 0x1000;

}  // namespace
}  // namespace fake_nvml

namespace gpuprof::nvml {

using namespace fake_nvml;

extern "C" {

Return nvmlDeviceGetComputeRunningProcesses(Device device, unsigned* count, void* processes) {
    return list_processes(__func__, device, false, sizeof(ProcessV1), count, processes);
}
Return nvmlDeviceGetComputeRunningProcesses_v2(Device device, unsigned* count, void* processes) {
    return list_processes(__func__, device, false, sizeof(Process), count, processes);
}
Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, void* processes) {
    return list_processes(__func__, device, false, sizeof(Process), count, processes);
}
Return nvmlDeviceGetGraphicsRunningProcesses(Device device, unsigned* count, void* processes) {
    return list_processes(__func__, device, true, sizeof(ProcessV1), count, processes);
}
Return nvmlDeviceGetGraphicsRunningProcesses_v2(Device device, unsigned* count, void* processes) {
    return list_processes(__func__, device, true, sizeof(Process), count, processes);
}
Return nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, unsigned* count, void* processes) {
    return list_processes(__func__, device, true, sizeof(Process), count, processes);
}

Return nvmlDeviceGetProcessUtilization(Device handle, ProcessUtilization* samples, unsigned* count,
                                       unsigned long long) {
    auto fill = [&](FakeDevice& device) -> Return {
        auto found = static_cast<unsigned>(device.processes.size());
        bool room = samples && *count >= found;
        timespec now{};
        clock_gettime(CLOCK_REALTIME, &now);
        auto us = static_cast<unsigned long long>(now.tv_sec) * 1'000'000 + static_cast<unsigned>(now.tv_nsec / 1000);
        for (unsigned i = 0; room && i < found; ++i)
            samples[i] = {device.processes[i].pid, us, static_cast<unsigned>(device.processes[i].util_pct), 0, 0, 0};
        *count = found;
        if (found == 0) return kNotFound;
        return room ? kSuccess : kInsufficientSize;
    };
    return ask(__func__, handle, false, fill, count);
}

Return nvmlDeviceGetMigMode(Device handle, unsigned* current, unsigned* pending) {
    auto fill = [&](FakeDevice& device) { return *current = *pending = !device.mig.empty(), kSuccess; };
    return ask(__func__, handle, false, fill, current, pending);
}
Return nvmlDeviceGetMaxMigDeviceCount(Device handle, unsigned* count) {
    auto fill = [&](FakeDevice&) { return *count = 7, kSuccess; };
    return ask(__func__, handle, false, fill, count);
}
Return nvmlDeviceGetMigDeviceHandleByIndex(Device handle, unsigned index, Device* mig) {
    auto fill = [&](FakeDevice& device) -> Return {
        if (index >= device.mig.size()) return kNotFound;
        *mig = reinterpret_cast<Device>(device.mig[index]);
        return kSuccess;
    };
    return ask(__func__, handle, false, fill, mig);
}
Return nvmlDeviceGetGpuInstanceId(Device handle, unsigned* id) {
    auto fill = [&](FakeDevice& device) { return *id = device.gpu_instance, kSuccess; };
    return ask(__func__, handle, true, fill, id);
}

Return nvmlEventSetCreate(EventSet* set) {
    auto fill = [&] { return *set = reinterpret_cast<EventSet>(machine), kSuccess; };
    return play(__func__, nullptr, fill, set);
}
Return nvmlEventSetFree(EventSet set) {
    return play(__func__, nullptr, [&]() -> Return { return set ? kSuccess : kInvalidArgument; });
}
Return nvmlDeviceRegisterEvents(Device device, unsigned long long, EventSet) {
    return ask(__func__, device, false, [](FakeDevice&) { return kSuccess; });
}
Return nvmlEventSetWait_v2(EventSet, EventData* data, unsigned) {
    auto fill = [&]() -> Return {
        std::uint64_t poll = machine->xid_polls++;
        for (ScriptedXid& xid : machine->xids) {
            if (xid.told || poll < xid.after) continue;
            xid.told = true;
            *data = {reinterpret_cast<Device>(xid.device), kEventXid, xid.number, ~0u, ~0u};
            return kSuccess;
        }
        return kTimeout;
    };
    return play(__func__, nullptr, fill, data);
}

Return nvmlGpmQueryDeviceSupport(Device device, GpmSupport* support) {
    auto fill = [&](FakeDevice&) { return support->is_supported_device = 1, kSuccess; };
    return ask(__func__, device, false, fill, support);
}
Return nvmlGpmSampleAlloc(GpmSample* sample) {
    auto fill = [&] {
        *sample = reinterpret_cast<GpmSample>(next_sample++);
        return samples[*sample] = nullptr, kSuccess;
    };
    return play(__func__, nullptr, fill, sample);
}
Return nvmlGpmSampleFree(GpmSample sample) { return samples.erase(sample) == 1 ? kSuccess : kInvalidArgument; }
Return nvmlGpmSampleGet(Device handle, GpmSample sample) {
    auto fill = [&](FakeDevice& device) -> Return {
        if (!samples.count(sample)) return kInvalidArgument;
        return samples[sample] = &device, kSuccess;
    };
    return ask(__func__, handle, false, fill);
}
Return nvmlGpmMigSampleGet(Device handle, unsigned instance, GpmSample sample) {
    auto fill = [&](FakeDevice& device) -> Return {
        if (!samples.count(sample)) return kInvalidArgument;
        for (FakeDevice* mig : device.mig)
            if (mig->gpu_instance == instance) return samples[sample] = mig, kSuccess;
        return kNotFound;
    };
    return ask(__func__, handle, false, fill);
}
Return nvmlGpmMetricsGet(GpmMetricsGet* request) {
    auto newer = request ? samples.find(request->sample2) : samples.end();
    FakeDevice* device = newer != samples.end() ? newer->second : nullptr;
    if (!initialised) return kUninitialized;
    Fate fate = fate_of(__func__, device);
    if (fate.code != kSuccess) return fate.code;
    if (!device || request->version != kGpmVersion) return kInvalidArgument;
    for (unsigned i = 0; i < request->num_metrics; ++i) {
        GpmMetric& metric = request->metrics[i];
        const char* field = gpm_field(metric.metric_id);
        metric.result = field ? kSuccess : kNotSupported;
        if (field) metric.value = device->next(field);
        if (fate.garbage) std::memset(&metric.value, 0xFF, sizeof metric.value);
    }
    return kSuccess;
}

}  // extern "C"

}  // namespace gpuprof::nvml
