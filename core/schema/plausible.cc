// Bounds by unit, tighter for a few metrics: wide enough for GPUs of the coming years, narrow enough to catch garbage.
#include "core/schema/plausible.h"

namespace gpuprof::inline schema {

namespace {

struct Bounds {
    double low, high;
};

Bounds bounds_of(Metric metric) {
    switch (metric) {
        case Metric::pstate: return {0, 15};
        case Metric::pcie_gen: return {1, 16};
        case Metric::pcie_width: return {1, 64};
        case Metric::throttle: return {0, 0xFFFFFFFE};
        case Metric::mem_total: return {1, 1 << 24};
        case Metric::util_gpu:
        case Metric::util_mem: return {0, 100};
        default: break;
    }
    switch (spec_of(metric).unit) {
        case Unit::percent: return {0, 101};  // GPM divides two counters that are not read at the same instant
        case Unit::mib: return {0, 1 << 24};
        case Unit::watt: return {0, 10'000};
        case Unit::celsius: return {0, 200};
        case Unit::megahertz: return {0, 10'000};
        case Unit::mb_per_s: return {0, 1e8};
        case Unit::joule: return {0, 1e13};
        default: return {0, 1e15};
    }
}

}  // namespace

bool plausible(Metric metric, double value) {
    Bounds bounds = bounds_of(metric);
    return value >= bounds.low && value <= bounds.high;
}

}  // namespace gpuprof::schema
