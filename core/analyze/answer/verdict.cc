#include "core/analyze/answer/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analyze/facts/activity.h"
#include "core/analyze/facts/completeness.h"
#include "core/analyze/facts/gain.h"
#include "core/analyze/facts/kernel_bound.h"
#include "core/analyze/facts/op_rates.h"
#include "core/analyze/facts/shares.h"
#include "core/base/readable.h"

namespace gpuprof {
namespace {

// The runner-up from this part of the winner on makes the verdict "mixed".
constexpr double kMixed = 0.85;
// A winner below this share of the effective window explains too little to be the verdict.
constexpr double kLeast = 20;
// Compute-bound with this share of the effective window, at this share of the device's peak or more, is near the limit.
constexpr double kNearLimitShare = 80, kNearLimitRate = 65;
// Alternatives below this share of the window are not worth a line.
constexpr double kWorthNaming = 1;

// While the device is busy with both, arithmetic decides although moving data takes somewhat longer: data-moving kernels can
// be fused into the arithmetic ones, so arithmetic is the floor that remains.
constexpr double kFloor = 0.8;

void conclude(Verdict& verdict, Limit limit) {
    verdict.limit = limit;
    verdict.name = name_of(limit);
}

// One explanation, the time it accounts for, and how much of it acting could give back (-1: not known).
struct Explanation {
    Limit limit;
    DurNs time;
    DurNs gives_back;
    std::string because;
};

std::string ns(DurNs dur) { return readable_duration(static_cast<double>(dur)); }

// The two kernel classes that hold most of the time of one bound, e.g. "gemm and attention".
std::string main_classes(const std::vector<KernelGroup>& kernels, Bound bound) {
    std::vector<std::pair<DurNs, KernelClass>> sums;
    for (const KernelGroup& group : kernels) {
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

std::string untold_because(DurNs kernels, DurNs idle) {
    std::string text;
    if (kernels > 0)
        text = fmt::format("{} of kernels have limits that neither names, shapes nor counters tell", ns(kernels));
    if (idle > 0)
        text += fmt::format("{}{} of idle time has no recorded cause", text.empty() ? "" : ", and ", ns(idle));
    return text + "; record operator shapes (record_shapes=True), the CUDA calls of every thread, or counters";
}

std::vector<Explanation> explanations(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    const ProfilerCost& distortion = facts.get<ProfilerCost>();
    auto idle = [&](IdleCause cause) { return shares.idle_of(cause); };
    auto busy_with = [&](Bound bound, std::string_view what) {
        return fmt::format("{} {} run {}", what, main_classes(facts.get<KernelGroups>().groups, bound),
                           ns(shares.kernel_of(bound)));
    };
    DurNs launch = distortion.undoubted(idle(IdleCause::launch)),
          host = distortion.undoubted(idle(IdleCause::host_compute));
    DurNs other = host + idle(IdleCause::compilation) + idle(IdleCause::nothing_submitted);
    DurNs untold = shares.kernel_of(Bound::unknown) + idle(IdleCause::unknown);
    DurNs transfer = shares.exposed_memcpy + idle(IdleCause::host_memcpy);
    DurNs comm = shares.exposed_comm + idle(IdleCause::communication_wait);
    return {
        {Limit::compute, shares.kernel_of(Bound::compute), -1, busy_with(Bound::compute, "arithmetic-heavy")},
        {Limit::memory_bandwidth, shares.kernel_of(Bound::memory), -1, busy_with(Bound::memory, "data-moving")},
        {Limit::underfilled, shares.kernel_of(Bound::underfilled), shares.unfilled,
         fmt::format("{}, with too few blocks or threads to fill the multiprocessors",
                     busy_with(Bound::underfilled, "small"))},
        {Limit::unknown, untold, -1, untold_because(shares.kernel_of(Bound::unknown), idle(IdleCause::unknown))},
        {Limit::input, idle(IdleCause::input_pipeline), idle(IdleCause::input_pipeline),
         fmt::format("the GPU waits {} for the input pipeline", ns(idle(IdleCause::input_pipeline)))},
        {Limit::launch, launch, launch,
         fmt::format("launching leaves the GPU idle for {} between kernels", ns(launch))},
        {Limit::synchronisation, idle(IdleCause::synchronisation), idle(IdleCause::synchronisation),
         fmt::format("the GPU is idle for {} after the host waited for it", ns(idle(IdleCause::synchronisation)))},
        {Limit::transfer, transfer, transfer, fmt::format("copies that no kernel hides take {}", ns(transfer))},
        {Limit::communication, comm, comm, fmt::format("collectives that no kernel hides take {}", ns(comm))},
        {Limit::allocation, idle(IdleCause::allocation), idle(IdleCause::allocation),
         fmt::format("the GPU waits {} for memory to be allocated or freed", ns(idle(IdleCause::allocation)))},
        {Limit::host, other, other, fmt::format("the GPU waits {} while the host runs other code", ns(other))},
    };
}

Verdict no_device_work(const Trace& trace) {
    Verdict verdict;
    conclude(verdict, Limit::unknown);
    const Completeness& complete = trace.completeness();
    if (complete.without_work() > 0)
        verdict.because =
            fmt::format("none of the work of {} calls that submit some was recorded; record with GPU activities on",
                        readable_count(static_cast<std::int64_t>(complete.without_work())));
    else
        verdict.because = trace.op().rows + trace.api_call().rows > 0
                              ? "the trace holds host work but no GPU work; record with GPU activities on"
                              : "the trace holds no GPU work";
    return verdict;
}

Verdict too_much_missing(const Trace& trace) {
    const Completeness& complete = trace.completeness();
    Verdict verdict;
    conclude(verdict, Limit::unknown);
    verdict.because = fmt::format(
        "at least {:.0f} % of the device work was not recorded, so time that seems idle may have been busy; record a "
        "shorter part or with larger buffers, and let the program end by itself (`losses`)",
        100 * complete.missing_share());
    return verdict;
}

std::optional<double> given_back(const Explanation& each, const Shares& shares) {
    return each.gives_back < 0 ? std::nullopt : std::optional<double>(shares.pct(each.gives_back));
}

Candidate candidate(const Explanation& each, const Shares& shares) {
    return {std::string(name_of(each.limit)), shares.pct(each.time), given_back(each, shares), each.because};
}

// The largest first; between arithmetic and moving data, the floor decides.
void order(std::vector<Explanation>& all) {
    std::stable_sort(all.begin(), all.end(),
                     [](const Explanation& a, const Explanation& b) { return a.time > b.time; });
    auto named = [&](Limit limit) {
        return std::find_if(all.begin(), all.end(), [&](const Explanation& each) { return each.limit == limit; });
    };
    auto compute = named(Limit::compute), memory = named(Limit::memory_bandwidth);
    if (memory < compute && static_cast<double>(compute->time) >= kFloor * static_cast<double>(memory->time))
        std::rotate(memory, compute, compute + 1);
}

// What is good already and worth saying beside the verdict.
std::string praise(const Facts& facts, const Shares& shares) {
    DurNs copies = 0;
    for (const DeviceActivity& device : facts.get<Activity>().devices) copies += length(device.memcpy);
    if (shares.pct(copies) < kWorthNaming || 10 * shares.exposed_memcpy > copies) return "";
    return fmt::format("; copies ({}) are hidden behind kernels", ns(copies));
}

// How near to the device's peak FLOP/s the compute-bound operators come, in percent, when shapes were recorded.
std::optional<double> nearness(const Facts& facts) {
    double weighted = 0, time = 0;
    for (const OpRate& rate : facts.get<OpRates>().rates) {
        if (rate.bound != Bound::compute || !rate.compute_pct) continue;
        weighted += *rate.compute_pct * static_cast<double>(rate.device_ns);
        time += static_cast<double>(rate.device_ns);
    }
    return time > 0 ? std::optional<double>(weighted / time) : std::nullopt;
}

}  // namespace

Verdict judge(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    if (shares.busy == 0 || shares.effective <= 0) return no_device_work(facts.trace());
    if (much_missing(facts.trace())) return too_much_missing(facts.trace());
    std::vector<Explanation> all = explanations(facts);
    order(all);
    Verdict verdict;
    const Explanation &first = all[0], &second = all[1];
    double effective = shares.effective_pct(first.time) * static_cast<double>(shares.effective) /
                       static_cast<double>(std::max<DurNs>(1, shares.effective - shares.host_idle_doubtful));
    bool busy_with_both = first.limit == Limit::compute && second.limit == Limit::memory_bandwidth;
    bool mixed = (!busy_with_both && static_cast<double>(second.time) > kMixed * static_cast<double>(first.time)) ||
                 effective < kLeast;
    conclude(verdict, mixed ? Limit::mixed : first.limit);
    verdict.because = mixed ? fmt::format("no single cause stands out: {} ({} %), {} ({} %)", name_of(first.limit),
                                          readable_percent(shares.pct(first.time)), name_of(second.limit),
                                          readable_percent(shares.pct(second.time)))
                            : first.because;
    if (!mixed) {
        verdict.share_pct = shares.pct(first.time);
        verdict.gives_back_pct = given_back(first, shares);
        std::optional<double> rate = first.limit == Limit::compute ? nearness(facts) : std::nullopt;
        if (rate)
            verdict.because += fmt::format(
                "; those with recorded shapes reach {:.0f} % of the device's peak FLOP/s (`arithmetic`)", *rate);
        if (rate.value_or(0) >= kNearLimitRate && effective >= kNearLimitShare) conclude(verdict, Limit::healthy);
        verdict.because += praise(facts, shares);
    }
    for (std::size_t i = mixed ? 0 : 1; i < all.size(); ++i)
        if (shares.pct(all[i].time) >= kWorthNaming) verdict.alternatives.push_back(candidate(all[i], shares));
    DurNs recorder = shares.idle_of(IdleCause::profiler) + shares.host_idle_doubtful;
    if (facts.get<ProfilerCost>().distorted() && shares.pct(recorder) >= kWorthNaming)
        verdict.alternatives.push_back({std::string(name_of(Limit::profiler)), shares.pct(recorder), std::nullopt,
                                        fmt::format("{} of idle time may be the recorder's own cost", ns(recorder))});
    return verdict;
}

}  // namespace gpuprof
