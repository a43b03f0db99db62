// Kernel launches whose counters were measured, with every known counter in its base unit, and grouped by name.
// Counters of any tool are the same rows, so everything in this folder works for all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/facts/kernels/counter_match.h"
#include "analyze/knowledge/kernel_metrics.h"
#include "core/base/ids.h"

namespace gpuprof::inline facts {

class Facts;

// One launch. Absent counters are absent, never 0.
class MeasuredKernel {
public:
    // `values`: sorted by metric.
    MeasuredKernel(Row of, std::vector<std::pair<KernelMetric, double>> values) : row(of), values_(std::move(values)) {}

    std::optional<double> operator[](KernelMetric metric) const;
    std::optional<double> duration_ns() const { return (*this)[KernelMetric::duration]; }
    std::size_t known() const { return values_.size(); }

    Row row;                    // of `profiled_kernel`
    std::int64_t counters = 0;  // collected for this launch, with those that no analysis reads
    std::string_view device_name;
    std::optional<int> cc_major, cc_minor;
    // From the launch record and the device, where no counter says it.
    std::optional<std::int64_t> shared_bytes;  // static and dynamic, per block
    std::optional<std::int32_t> sms;

private:
    std::vector<std::pair<KernelMetric, double>> values_;
};

// The sum of counters that were all collected; absent if one was not.
template <class... Metric>
std::optional<double> sum_of(const MeasuredKernel& kernel, Metric... metrics) {
    double sum = 0;
    bool all = (... && [&](KernelMetric metric) {
        std::optional<double> value = kernel[metric];
        sum += value.value_or(0);
        return value.has_value();
    }(metrics));
    return all ? std::optional(sum) : std::nullopt;
}

// The launches of one name, grid and block.
struct MeasuredGroup {
    StringId name = kNoString;
    std::string handle = {};  // of the name, "k-3": of `kernels` if the recording has a timeline, else by total time
    std::vector<std::size_t> launches = {};  // in MeasuredKernels::launches, in file order
    double total_ns = 0;
    std::size_t longest = 0;  // the launch that stands for them
};

struct MeasuredKernels {
    std::vector<MeasuredKernel> launches;  // of the selected devices, in file order
    std::vector<MeasuredGroup> groups;     // by name, the longest total first, and then by their own total
    CounterMatch match;                    // by group: its kernels in the timeline
    static MeasuredKernels make(const Facts& facts);

    // The group of a handle ("k-3"), of a whole name, or of a part of one; null if there is none.
    const MeasuredGroup* find(const Facts& facts, std::string_view selector) const;
};

// Whether a kernel name is what the option `--kernel` asks for: a handle of the timeline's or of measured kernels (k-3), a
// whole name, or a part of one. True for every name if the option is empty.
bool is_selected(const Facts& facts, std::string_view name);

}  // namespace gpuprof::facts
