// What a fake libnvidia-ml.so.1 plays, read from the file that GPUPROF_FAKE_NVML names. Without the variable, or with a file
// that cannot be read, nvmlInit answers DRIVER_NOT_LOADED; a line that is not understood makes it answer INVALID_ARGUMENT
// and is printed to stderr. One statement a line, # begins a comment:
//
//   driver 580.159.04
//   device [uuid=GPU-..] [name=NVIDIA_H200] [pci=00000000:06:00.0] [memory_mib=143771]    the next device; _ is a space
//   mig DEVICE uuid=MIG-.. memory_mib=16384 [gi=1]      an instance of a device, which is in MIG mode from then on
//   set DEVICE FIELD VALUE                              FIELD as in core/schema/metrics.def, VALUE in its unit;
//                                                       also power_limit_w, sm_clock_max_mhz, mem_clock_max_mhz;
//                                                       rates of GPM in MiB/s, as NVML gives them: gpm_pcie_tx_mib_per_s
//   series DEVICE FIELD V1 V2 ...                       one value a call of the function that reads it; the last one stays
//   cycle DEVICE FIELD V1 V2 ...                        the same, from the beginning again
//   csv DEVICE FILE                                     the same for all columns of a file whose first line has FIELDs
//   square DEVICE FIELD LOW HIGH PERIOD_MS [DUTY_PCT]   by the wall clock: HIGH first, since nvmlInit
//   counter DEVICE FIELD WATTS STEP_MS                  by the wall clock: joules at so many watts, in steps of this length
//   process DEVICE PID MEMORY_MIB [UTIL_PCT] [graphics]      PID may be @FILE, which holds it; no process until then
//   xid DEVICE NUMBER [after N]                         an error event, at the N+1st poll
//   cost FUNCTION MICROSECONDS                          how long a call takes; below 200 us as work, else as sleep
//   cost measured                                       costs as measured on an H200
//   fail FUNCTION CODE [device D] [after N] [for M]     from the N+1st matching call on, M calls long; * is every function
//   hang FUNCTION ...   crash FUNCTION ...              never returns; dies by SIGSEGV
//   garbage FUNCTION ...                                answers success with all bits set
//   entry FUNCTION BYTES                                length of a process entry, as some drivers differ
//
// DEVICE is a number, or * for all so far; an instance has the number its line makes it: devices and instances count
// together. Counters go on when NVML is initialised again with the same file.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "collect/device/nvml/nvml_abi.h"

namespace fake_nvml {

using namespace gpuprof::nvml;

class Series {
public:
    Series() = default;
    explicit Series(std::vector<double> values, bool cycle = false) : values_(std::move(values)), cycle_(cycle) {}
    static Series square(double low, double high, double period_ms, double duty_pct);
    static Series counter(double watts, double step_ms);
    // The value of the next call.
    double next();

private:
    std::vector<double> values_;
    bool cycle_ = false;
    std::size_t calls_ = 0;
    double period_ms_ = 0, duty_pct_ = 50;
    double watts_ = 0, step_ms_ = 0;
};

struct FakeProcess {
    unsigned pid;
    double memory_mib, util_pct;
    bool graphics;
    std::string pid_file;  // read at each call if it is not empty
};

struct FakeDevice {
    int number = 0;
    std::string uuid, name = "NVIDIA H200", pci;
    FakeDevice* parent = nullptr;  // of a MIG instance
    unsigned gpu_instance = 0;
    std::vector<FakeDevice*> mig;
    double memory_mib = 143771;
    std::map<std::string, Series> fields;
    std::vector<FakeProcess> processes;

    double next(const char* field) { return fields[field].next(); }
};

enum class Act { fail, hang, crash, garbage };
struct Rule {
    Act act;
    std::string function;
    Return code = 0;
    int device = -1;
    std::uint64_t after = 0, count = ~0ULL, seen = 0;
};

struct ScriptedXid {
    FakeDevice* device;
    unsigned number;
    std::uint64_t after;
    bool told = false;
};

struct Machine {
    std::string driver = "580.159.04";
    std::deque<FakeDevice> devices;  // instances too
    std::vector<FakeDevice*> gpus;
    std::vector<Rule> rules;
    std::map<std::string, double, std::less<>> cost_us;
    std::map<std::string, unsigned, std::less<>> entry_bytes;
    std::vector<ScriptedXid> xids;
    std::uint64_t xid_polls = 0;
};

// kSuccess, or what nvmlInit answers.
Return read_script(const char* path, Machine& to);

}  // namespace fake_nvml
