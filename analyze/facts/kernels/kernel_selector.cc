#include "analyze/facts/kernels/kernel_selector.h"

#include "analyze/facts/facts.h"
#include "analyze/facts/kernels/kernel_names.h"
#include "analyze/facts/kernels/measured_kernels.h"
#include "core/base/text/function_name.h"

namespace gpuprof::inline facts {

bool is_selected(const Facts& facts, std::string_view name) {
    std::string_view selector = facts.options().kernel;
    if (selector.empty() || name.find(selector) != std::string_view::npos) return true;
    const Trace& trace = facts.trace();
    std::string function = short_name(name);
    for (const MeasuredGroup& group : facts.get<MeasuredKernels>().groups)
        if (group.handle == selector && short_name(trace.text(group.name)) == function) return true;
    if (!selector.starts_with("k-")) return false;
    std::size_t number = 0;
    for (char c : selector.substr(2)) {
        if (c < '0' || c > '9' || number > 1'000'000'000) return false;
        number = 10 * number + static_cast<std::size_t>(c - '0');
    }
    StringId timeline = facts.get<KernelNames>().with_handle(number);
    return timeline != kNoString && short_name(trace.text(timeline)) == function;
}

}  // namespace gpuprof::facts
