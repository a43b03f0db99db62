#include "analyze/kernels/selected_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/facts/facts.h"
#include "core/base/text/function_name.h"

namespace gpuprof::inline kernels {
namespace {

constexpr std::size_t kMaxNames = 5;

std::string names_of(const Facts& facts) {
    const std::vector<MeasuredGroup>& groups = facts.get<MeasuredKernels>().groups;
    std::string names;
    for (std::size_t i = 0; i < std::min(groups.size(), kMaxNames); ++i)
        names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", groups[i].handle,
                             short_name(facts.trace().text(groups[i].name)));
    if (groups.size() > kMaxNames) names += fmt::format(" and {} more", groups.size() - kMaxNames);
    return names;
}

}  // namespace

Result<SelectedKernel> selected_kernel(const Facts& facts) {
    const MeasuredKernels& measured = facts.get<MeasuredKernels>();
    const std::string& selector = facts.options().kernel;
    if (measured.groups.empty())
        return Error{
            ExitCode::empty,
            "no counters of kernels were recorded; gpu-profile counters -- CMD or ncu --csv --page raw collects them"};
    std::int64_t wanted = facts.options().launch;
    if (wanted >= 0) {
        const ProfiledKernelTable& table = facts.trace().tables().profiled_kernel;
        for (const MeasuredGroup& group : measured.groups)
            for (std::size_t launch : group.launches)
                if (table.launch[measured.launches[launch].row] == wanted) return SelectedKernel{&group, launch};
        return Error{ExitCode::usage,
                     fmt::format("no launch {} has counters; report FILE counters lists them", wanted)};
    }
    const MeasuredGroup* group = measured.find(facts, selector);
    if (group == nullptr)
        return Error{ExitCode::usage,
                     fmt::format("no kernel with counters matches '{}'; there are {}", selector, names_of(facts))};
    return SelectedKernel{group, group->longest};
}

}  // namespace gpuprof::kernels
