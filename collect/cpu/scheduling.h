// Records when threads of the command ran on which CPU, from context switches that the kernel reports
// (perf_event_open(2)), as rows of cpu_slice. One event and one ring buffer per CPU, read by a thread of this program.
//
// The events are opened for the calling thread, disabled, and are inherited: every process that this thread starts has
// them from then on, and they begin with its next exec. So nothing of the command is missed, and it is neither stopped nor
// changed. It follows that the thread which opens them starts the command next, and no other program before stop().
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "collect/cpu/perf_ring.h"
#include "collect/cpu/switch_slices.h"
#include "core/base/result.h"
#include "core/format/capture_part.h"

namespace gpuprof::inline cpu {

// What is needed of the kernel. Tests replace it.
struct PerfSystem {
    std::function<int(perf_event_attr&, int cpu)> open;           // a descriptor, or -errno
    std::function<void*(int descriptor, std::size_t bytes)> map;  // null, and errno
    std::function<int()> cpus;                                    // ids of CPUs are below this
    std::function<std::string(const char* file)> read;            // the content of a file; "" if it cannot be read
};
PerfSystem kernel_perf();

struct SchedulingCost {
    std::uint64_t stretches = 0, lost = 0;  // lost: context switches
    std::int64_t spent_ns = 0;              // CPU time of the reading thread
};

class SchedulingRecorder {
public:
    // Writes to `file`. Fails with the reason and what to do if the kernel refuses.
    static Result<std::unique_ptr<SchedulingRecorder>> open(const std::string& file, PerfSystem system = kernel_perf());
    ~SchedulingRecorder();

    // Starts reading, in a thread of its own.
    void start();
    // Reads the rest and completes the part.
    Status stop();
    const SchedulingCost& cost() const { return cost_; }

    static constexpr std::size_t kRingBytes = 512 << 10, kMinRingBytes = 16 << 10, kMaxTotalBytes = 64 << 20;

private:
    struct Cpu {
        int number = 0, descriptor = -1;
        void* mapped = nullptr;
        std::size_t bytes = 0;  // mapped
        std::unique_ptr<PerfRing> ring;
        SwitchSlices slices;
    };
    struct Keys {
        StringId process = kNoString, thread = kNoString;
    };
    explicit SchedulingRecorder(PerfSystem system);
    Status open_cpus();
    Status map_ring(Cpu& cpu, std::size_t bytes);
    void run();
    void read();
    void write(int cpu, const CpuStretch& stretch);
    Status flush();

    PerfSystem system_;
    std::unique_ptr<CapturePart> part_;
    std::string host_;
    bool knows_preemption_;
    std::vector<Cpu> cpus_;
    std::vector<SwitchRecord> records_;
    std::vector<CpuStretch> stretches_;
    std::map<pid_t, Keys> keys_;  // by thread, of the rows not yet written
    int wake_ = -1;               // an eventfd that ends the thread
    std::thread thread_;
    SchedulingCost cost_;
};

}  // namespace gpuprof::cpu
