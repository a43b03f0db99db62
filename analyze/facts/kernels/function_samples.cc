#include "analyze/facts/kernels/function_samples.h"

#include <algorithm>

namespace gpuprof::inline facts {

std::vector<std::pair<KernelMetric, double>> samples_as_counters(const SourceLines& lines, StringId function) {
    auto reasons = lines.reasons_by_function.find(function);
    auto samples = lines.samples_by_function.find(function);
    if (reasons == lines.reasons_by_function.end() || samples == lines.samples_by_function.end()) return {};
    std::vector<std::pair<KernelMetric, double>> values{{KernelMetric::samples, samples->second}};
    for (const StallReason& reason : stall_reasons()) {
        double count = 0;
        for (const auto& [name, value] : reasons->second)
            if (find_stall(name) == &reason) count += value;
        values.emplace_back(reason.samples, count);
    }
    std::sort(values.begin(), values.end());
    return values;
}

}  // namespace gpuprof::facts
