#include "core/analyze/gap_order.h"

#include <algorithm>
#include <tuple>

namespace gpuprof {

std::vector<const IdleGap*> gaps_by_length(const Study& study) {
    std::vector<const IdleGap*> order;
    for (const IdleGap& gap : study.gaps().gaps)
        if (gap.dur >= study.options().gap_min_ns) order.push_back(&gap);
    std::sort(order.begin(), order.end(), [](const IdleGap* a, const IdleGap* b) {
        return std::tuple(-a->dur, a->start, a->device) < std::tuple(-b->dur, b->start, b->device);
    });
    return order;
}

}  // namespace gpuprof
