#include "analyze/facts/kernels/kernel_names.h"

#include <algorithm>
#include <numeric>

#include "analyze/facts/facts.h"

namespace gpuprof::inline facts {

KernelNames KernelNames::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    const KernelTable& kernels = trace.kernel();
    std::int64_t only = facts.options().device;
    KernelNames names{NameGroups(kernels.name, trace.strings().size(),
                                 [&](Row row) { return only < 0 || kernels.device.value_or(row, -1) == only; }),
                      {},
                      {}};
    names.totals.resize(names.groups.size());
    for (Row row = 0; row < kernels.rows; ++row)
        if (std::uint32_t group = names.groups.of(row); group != NameGroups::kLeftOut)
            names.totals[group].add(kernels.dur[row]);
    names.order.resize(names.groups.size());
    std::iota(names.order.begin(), names.order.end(), 0u);
    std::sort(names.order.begin(), names.order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return names.totals[a] != names.totals[b] ? names.totals[a] > names.totals[b]
                                                  : trace.text(names.groups.name(a)) < trace.text(names.groups.name(b));
    });
    return names;
}

}  // namespace gpuprof::facts
