// Attributes the time of a step to parts that add up to it: the parts of DeviceTime (compared_run.h). A copy hidden by a kernel
// therefore costs nothing, and a kernel that overlaps another counts only for the time that it runs longer.
//
// Per step and device, in whole ns: the sum over steps and devices is divided by both and rounded by the largest
// remainder method (Hamilton), so that the parts still add up to the total, wall_time, and the differences of the parts
// to its difference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/kernel_pairs.h"
#include "core/model/result_table.h"

namespace gpuprof::compare {

struct Contribution {
    std::string_view kind;          // kernel, memcpy, memset, idle
    std::string name;               // of the kernel in NEW, or in BASE if it vanished; kind of copy; cause
    DurNs base_ns = 0, new_ns = 0;  // per step and device
    DurNs difference() const { return new_ns - base_ns; }
};

struct Attribution {
    std::vector<Contribution> parts;  // largest difference first
    DurNs base_ns = 0, new_ns = 0;    // of a step: the sums over the parts
    std::int64_t devices = 1;         // of the larger side
    bool of_steps = false;            // of a step on both sides, otherwise of a whole recording
    DurNs difference() const { return new_ns - base_ns; }
};

Attribution attribute(const Run& base, const KernelNames& base_names, const Run& next, const KernelNames& new_names,
                      const KernelPairs& pairs);

ResultTable attribution_table(const Attribution& found);

// "+1.20 ms: 80 % void f(), 15 % idle (input pipeline), ..."
std::string attribution_line(const Attribution& found);

}  // namespace gpuprof::compare
