#include "present/answer/explanations.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/facts/idle/gaps.h"
#include "analyze/facts/kernels/kernel_bound.h"
#include "analyze/facts/shares.h"
#include "analyze/replay/gain.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline answer {
namespace {

std::string untold_because(DurNs kernels, DurNs idle, DurNs queued) {
    std::string text;
    if (kernels > 0)
        text = fmt::format("the limiter of kernels that take {} is unknown (no shapes, no counters)",
                           readable_duration(kernels));
    if (idle > 0)
        text +=
            fmt::format("{}{} of idle time has no known cause", text.empty() ? "" : ", and ", readable_duration(idle));
    // Where the work had been submitted, recording more calls would not help.
    if (2 * queued > kernels + idle)
        return text + fmt::format(
                          ": for {} of this time work was submitted but not started, so the GPU waited for something "
                          "outside the recording (an event, another process, unrecorded graph work)",
                          readable_duration(queued));
    return text + "; record operator shapes (record_shapes=True), the CUDA calls of every thread, or counters";
}

DurNs queued(const Facts& facts) {
    DurNs sum = 0;
    for (const DeviceIdle& device : facts.get<IdleGaps>().devices) sum += device.queued;
    return sum;
}

}  // namespace

std::string main_classes(const Facts& facts, Bound bound) {
    std::vector<std::pair<DurNs, KernelClass>> sums;
    for (const KernelGroup& group : facts.get<KernelGroups>().groups) {
        auto known =
            std::find_if(sums.begin(), sums.end(), [&](const auto& sum) { return sum.second == group.traits.kind; });
        if (known == sums.end()) known = sums.insert(sums.end(), {0, group.traits.kind});
        known->first += group.by_bound[static_cast<std::size_t>(bound)];
    }
    std::stable_sort(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    auto spoken = [](KernelClass kind) {
        std::string name(kind == KernelClass::other ? "streaming" : to_string(kind));
        std::replace(name.begin(), name.end(), '_', ' ');
        return name;
    };
    if (sums.empty() || sums[0].first == 0) return "";
    if (sums.size() < 2 || 5 * sums[1].first < sums[0].first) return spoken(sums[0].second) + " kernels";
    return fmt::format("{} and {} kernels", spoken(sums[0].second), spoken(sums[1].second));
}

Explanations explain_window(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    auto idle = [&](IdleCause cause) { return shares.idle_of(cause); };
    auto busy_with = [&](Bound bound, std::string_view what) {
        return fmt::format("{} {} run {}", what, main_classes(facts, bound),
                           readable_duration(shares.kernel_of(bound)));
    };
    auto gives_back = [&](Waste waste) { return gain_without(facts, waste).idle_ns; };
    DurNs launch = gives_back(Waste::launching), sync = gives_back(Waste::waits), other = gives_back(Waste::host_code);
    DurNs untold = shares.kernel_of(Bound::unknown) + idle(IdleCause::unknown);
    DurNs memory = shares.kernel_of(Bound::memory) + shares.exposed_device_copies;
    DurNs transfer = shares.exposed_memcpy + idle(IdleCause::host_memcpy), comm = gives_back(Waste::communication);
    DurNs input = idle(IdleCause::input_pipeline), allocation = idle(IdleCause::allocation);
    std::vector<Explanation> all{
        {Limit::compute, shares.kernel_of(Bound::compute), {}, busy_with(Bound::compute, "arithmetic-heavy")},
        {Limit::memory_bandwidth, memory, {}, busy_with(Bound::memory, "data-moving")},
        {Limit::underfilled, shares.kernel_of(Bound::underfilled), shares.unfilled,
         fmt::format("{}, with too few blocks or threads to fill the multiprocessors",
                     busy_with(Bound::underfilled, "small"))},
        {Limit::unknown,
         untold,
         {},
         untold_because(shares.kernel_of(Bound::unknown), idle(IdleCause::unknown), queued(facts))},
        {Limit::input, input, input, fmt::format("the GPU waits {} for the input pipeline", readable_duration(input))},
        {Limit::launch, launch, launch,
         fmt::format("the GPU is idle for {} between kernels, waiting for launches", readable_duration(launch))},
        {Limit::synchronisation, sync, sync,
         fmt::format("the GPU is idle for {} after the host waited for it", readable_duration(sync))},
        {Limit::transfer, transfer, gives_back(Waste::copies),
         fmt::format("copies not overlapped by kernels take {}", readable_duration(transfer))},
        {Limit::communication, comm, comm,
         fmt::format("collectives that no kernel hides take {}", readable_duration(comm))},
        {Limit::allocation, allocation, allocation,
         fmt::format("the GPU waits {} for memory allocations and frees", readable_duration(allocation))},
        {Limit::host, other, other,
         fmt::format("the GPU waits {} while the host runs other code", readable_duration(other))},
    };
    std::stable_sort(all.begin(), all.end(),
                     [](const Explanation& a, const Explanation& b) { return a.time > b.time; });
    return {std::move(all), shares.window, shares.effective - shares.host_idle_doubtful};
}

}  // namespace gpuprof::answer
