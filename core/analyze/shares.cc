#include "core/analyze/shares.h"

#include <cstdint>

#include "core/analyze/activity.h"
#include "core/analyze/study.h"

namespace gpuprof {
namespace {

// A sum over devices; only thousands of devices over weeks reach the cap.
void add_capped(DurNs& sum, DurNs more) {
    if (__builtin_add_overflow(sum, more, &sum)) sum = INT64_MAX;
}

DurNs scaled(DurNs part, double factor) { return static_cast<DurNs>(static_cast<double>(part) * factor); }

}  // namespace

Shares split_window(const Study& study, const std::vector<KernelGroup>& kernels, const Distortion& distortion) {
    Shares shares;
    shares.devices = study.activity().size();
    DurNs kernel_busy = 0;
    for (const DeviceActivity& device : study.activity()) {
        add_capped(shares.window, study.trace().window().length());
        add_capped(shares.busy, length(device.busy));
        add_capped(kernel_busy, length(device.kernel));
        add_capped(shares.exposed_memcpy, length(subtract(device.memcpy, device.kernel)));
        add_capped(shares.exposed_comm, length(subtract(device.comm, device.compute)));
    }
    for (const DeviceIdle& device : study.gaps().devices)
        for (std::size_t cause = 0; cause < kIdleCauses; ++cause)
            add_capped(shares.idle[cause], device.causes[cause].total);
    shares.effective = shares.window - shares.idle_of(IdleCause::profiler);
    shares.host_idle_doubtful = distortion.explained_ns;

    DurNs compute_sum = 0;  // durations of kernels other than collectives, which overlap each other
    std::array<DurNs, kBounds> sums{};
    DurNs unfilled = 0;
    for (const KernelGroup& group : kernels) {
        for (std::size_t bound = 0; bound < kBounds; ++bound) sums[bound] += group.by_bound[bound];
        unfilled += group.unfilled_ns;
    }
    for (std::size_t bound = 0; bound < kBounds; ++bound)
        if (static_cast<Bound>(bound) != Bound::communication) compute_sum += sums[bound];
    if (compute_sum == 0) return shares;
    double overlap_factor = static_cast<double>(kernel_busy - shares.exposed_comm) / static_cast<double>(compute_sum);
    for (std::size_t bound = 0; bound < kBounds; ++bound)
        if (static_cast<Bound>(bound) != Bound::communication)
            shares.kernel[bound] = scaled(sums[bound], overlap_factor);
    shares.unfilled = scaled(unfilled, overlap_factor);
    return shares;
}

}  // namespace gpuprof
