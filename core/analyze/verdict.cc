#include "core/analyze/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/readable.h"

namespace gpuprof {
namespace {

// The runner-up from this part of the winner on makes the verdict "mixed".
constexpr double kMixed = 0.85;
// A winner below this share of the effective window explains too little to be the verdict.
constexpr double kLeast = 20;
// Alternatives below this share of the window are not worth a line.
constexpr double kWorthNaming = 1;

// One explanation and the time it accounts for.
struct Explanation {
    std::string_view name;
    DurNs time;
    std::string because;
};

std::string ns(DurNs dur) { return readable_duration(static_cast<double>(dur)); }

// `time` without the part of it that the recorder may have made.
DurNs undoubted(const Distortion& distortion, DurNs time) {
    if (distortion.host_idle == 0) return time;
    double kept = 1.0 - static_cast<double>(distortion.explained_ns) / static_cast<double>(distortion.host_idle);
    return static_cast<DurNs>(static_cast<double>(time) * kept);
}

// The two kernel classes that hold most of the time of one bound, e.g. "gemm and attention".
std::string main_classes(const std::vector<KernelGroup>& kernels, Bound bound) {
    std::vector<std::pair<DurNs, KernelClass>> sums;
    for (const KernelGroup& group : kernels) {
        auto known = std::find_if(sums.begin(), sums.end(), [&](const auto& sum) { return sum.second == group.traits.kind; });
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

std::vector<Explanation> explanations(const Diagnosis& diagnosis) {
    const Shares& shares = diagnosis.shares;
    const Distortion& distortion = diagnosis.distortion;
    auto idle = [&](IdleCause cause) { return shares.idle_of(cause); };
    auto busy_with = [&](Bound bound, std::string_view what) {
        return fmt::format("{} {} run {}", what, main_classes(diagnosis.kernels, bound), ns(shares.kernel_of(bound)));
    };
    DurNs launch = undoubted(distortion, idle(IdleCause::launch)), host = undoubted(distortion, idle(IdleCause::host_compute));
    DurNs other = host + idle(IdleCause::compilation) + idle(IdleCause::nothing_submitted);
    DurNs transfer = shares.exposed_memcpy + idle(IdleCause::host_memcpy);
    DurNs comm = shares.exposed_comm + idle(IdleCause::communication_wait);
    return {
        {"compute-bound", shares.kernel_of(Bound::compute), busy_with(Bound::compute, "arithmetic-heavy")},
        {"memory-bandwidth-bound", shares.kernel_of(Bound::memory), busy_with(Bound::memory, "data-moving")},
        {"underfilled", shares.kernel_of(Bound::underfilled),
         fmt::format("{}, with too few blocks or threads to fill the multiprocessors", busy_with(Bound::underfilled, "small"))},
        {"cannot tell", shares.kernel_of(Bound::unknown),
         fmt::format("{} {} in kernels whose limits neither names, shapes nor counters tell; record operator shapes (record_shapes=True) or counters",
                     ns(shares.kernel_of(Bound::unknown)), shares.kernel_of(Bound::unknown) > 0 ? "are" : "is")},
        {"input-bound", idle(IdleCause::input_pipeline), fmt::format("the GPU waits {} for the input pipeline", ns(idle(IdleCause::input_pipeline)))},
        {"launch-bound", launch, fmt::format("the GPU waits {} for the host to launch the next kernel", ns(launch))},
        {"synchronisation-bound", idle(IdleCause::synchronisation), fmt::format("the GPU is idle for {} after the host waited for it", ns(idle(IdleCause::synchronisation)))},
        {"transfer-bound", transfer, fmt::format("copies that no kernel hides take {}", ns(transfer))},
        {"communication-bound", comm, fmt::format("collectives that no kernel hides take {}", ns(comm))},
        {"allocation-bound", idle(IdleCause::allocation), fmt::format("the GPU waits {} for memory to be allocated or freed", ns(idle(IdleCause::allocation)))},
        {"host-bound (other)", other, fmt::format("the GPU waits {} while the host runs other code", ns(other))},
    };
}

Verdict no_device_work(const Trace& trace) {
    Verdict verdict;
    verdict.name = "cannot tell";
    verdict.because = trace.op().rows + trace.api_call().rows > 0 ? "the trace holds host work but no GPU work; record with GPU activities on"
                                                                  : "the trace holds no GPU work";
    return verdict;
}

Candidate candidate(const Explanation& each, const Shares& shares) { return {std::string(each.name), shares.pct(each.time), each.because}; }

}  // namespace

Verdict judge(const Study& study, const Diagnosis& diagnosis) {
    const Shares& shares = diagnosis.shares;
    if (shares.busy == 0 || shares.effective <= 0) return no_device_work(study.trace());
    std::vector<Explanation> all = explanations(diagnosis);
    std::stable_sort(all.begin(), all.end(), [](const Explanation& a, const Explanation& b) { return a.time > b.time; });
    Verdict verdict;
    const Explanation &first = all[0], &second = all[1];
    double effective = shares.effective_pct(first.time) * static_cast<double>(shares.effective) /
                       static_cast<double>(std::max<DurNs>(1, shares.effective - shares.host_idle_doubtful));
    bool mixed = static_cast<double>(second.time) > kMixed * static_cast<double>(first.time) || effective < kLeast;
    verdict.name = mixed ? "mixed" : std::string(first.name);
    verdict.because = mixed ? fmt::format("no single cause stands out: {} ({} %), {} ({} %)", first.name, readable_percent(shares.pct(first.time)), second.name,
                                          readable_percent(shares.pct(second.time)))
                            : first.because;
    if (!mixed) verdict.share_pct = shares.pct(first.time);
    for (std::size_t i = mixed ? 0 : 1; i < all.size(); ++i)
        if (shares.pct(all[i].time) >= kWorthNaming) verdict.alternatives.push_back(candidate(all[i], shares));
    DurNs recorder = shares.idle_of(IdleCause::profiler) + shares.host_idle_doubtful;
    if (diagnosis.distortion.distorted && shares.pct(recorder) >= kWorthNaming)
        verdict.alternatives.push_back({"the profiler", shares.pct(recorder), fmt::format("{} of idle time may be the recorder's own cost", ns(recorder))});
    return verdict;
}

}  // namespace gpuprof
