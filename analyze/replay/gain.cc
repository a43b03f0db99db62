#include "analyze/replay/gain.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyze/facts/facts.h"
#include "analyze/facts/host/host_copies.h"
#include "analyze/facts/host/link_to_host.h"
#include "analyze/facts/host/peer_waits.h"
#include "analyze/facts/idle/gaps.h"
#include "analyze/facts/idle/waits.h"
#include "analyze/facts/shares.h"
#include "analyze/facts/steps/between_steps.h"
#include "analyze/facts/steps/iterations.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline replay {
namespace {

// Time of pageable copies relative to pinned ones where no sizes were recorded: pageable copies pass through a driver buffer, page by
// page, at 8 to 12 GB/s, while the bus delivers 12 (PCIe 3) to 55 (PCIe 5).
constexpr double kPageableSlowdown = 2.5, kMostSlowdown = 5;

// Recoverable idle time per cause, without the part that the recorder may have caused. A wait for the device costs the
// idle time that follows it, whatever the host does then, so the part of it listed as launching or host code counts as
// waiting. If operators do not distinguish launch cost from host code, short host code counts as launching.
struct Recoverable {
    std::array<DurNs, kIdleCauses> by_cause{};
    DurNs waits = 0;
    static Recoverable make(const Facts& facts);
    DurNs& operator[](IdleCause cause) { return by_cause[static_cast<std::size_t>(cause)]; }
    DurNs operator[](IdleCause cause) const { return by_cause[static_cast<std::size_t>(cause)]; }
};

Recoverable Recoverable::make(const Facts& facts) {
    const ProfilerCost& cost = facts.get<ProfilerCost>();
    DurNs launch = 0, host = 0, between = 0;
    for (const DeviceIdle& device : facts.get<IdleGaps>().devices) {
        launch += device.drained[static_cast<std::size_t>(IdleCause::launch)];
        host += device.drained[static_cast<std::size_t>(IdleCause::host_compute)];
        between += device.between_launches;
    }
    launch = cost.undoubted(launch);
    host = cost.undoubted(host);
    between = cost.undoubted(between);
    Recoverable found{.by_cause = facts.get<Shares>().idle};
    for (IdleCause cause : {IdleCause::launch, IdleCause::host_compute}) found[cause] = cost.undoubted(found[cause]);
    found[IdleCause::launch] += between;
    found[IdleCause::host_compute] -= between;
    found.waits = found[IdleCause::synchronisation];
    // Without the wait, the host recovers its blocked time and the device the idle time after it; the smaller one
    // counts.
    DurNs more = std::min(launch + host, facts.get<Waits>().blocked_ns - found.waits);
    if (more <= 0) return found;
    double part = static_cast<double>(more) / static_cast<double>(launch + host);
    for (auto [cause, drained] : {std::pair(IdleCause::launch, launch), std::pair(IdleCause::host_compute, host)}) {
        auto moved = static_cast<DurNs>(part * static_cast<double>(drained));
        found[cause] -= moved;
        found.waits += moved;
    }
    return found;
}

double pageable_slowdown(const Facts& facts) {
    const HostCopies& copies = facts.get<HostCopies>();
    double bytes = copies.pageable_bytes.real(), link = facts.get<HostLink>().central;
    if (bytes <= 0 || link <= 0) return kPageableSlowdown;
    return std::clamp(static_cast<double>(copies.pageable) * link / bytes, 1.0, kMostSlowdown);
}

DurNs idle_without_exposed_copies(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    DurNs exposed = shares.exposed_memcpy + shares.idle_of(IdleCause::host_memcpy);
    if (shares.exposed_memcpy == 0) return exposed;
    double pageable = static_cast<double>(exposed) * facts.get<HostCopies>().pageable_part();
    // Pinned copies can only be hidden behind other device work.
    double pinned = std::min(static_cast<double>(exposed) - pageable, static_cast<double>(shares.window - exposed));
    return static_cast<DurNs>(pageable * (1 - 1 / pageable_slowdown(facts)) + pinned);
}

// What is known of a cause: the idle time it accounts for, and the changes that remove it. Of two changes that gain nearly the
// same, the first asks less of the program.
struct WasteRule {
    DurNs (*idle)(const Facts& facts);
    Change change;
    std::optional<Change> other;
};

template <IdleCause... causes>
DurNs idle_of(const Facts& facts) {
    return (facts.get<Recoverable>()[causes] + ...);
}
DurNs idle_of_waits(const Facts& facts) { return facts.get<Recoverable>().waits; }
DurNs idle_between_steps(const Facts& facts) {
    const BetweenSteps& between = facts.get<BetweenSteps>();
    return std::min((between.exposed - between.kernels) * static_cast<DurNs>(facts.get<Shares>().devices),
                    facts.get<Shares>().window);
}
DurNs idle_of_host_sampling(const Facts& facts) {
    return std::min(facts.get<EngineStretches>().host_sampling, facts.get<Shares>().window);
}
DurNs nothing_idle(const Facts&) { return 0; }
DurNs exposed_waits_for_ranks(const Facts& facts) { return facts.get<PeerWaits>().exposed_wait; }
DurNs exposed_communication(const Facts& facts) {
    const PeerWaits& peers = facts.get<PeerWaits>();
    DurNs transfers = facts.get<Shares>().exposed_comm - peers.exposed_wait - peers.exposed_doubtful;
    return std::max<DurNs>(0, transfers) + idle_of<IdleCause::communication_wait>(facts);
}

// In the order of Waste.
constexpr std::array kWasteRules{
    WasteRule{idle_of<IdleCause::input_pipeline>, Change::input, {}},
    WasteRule{idle_of_waits, Change::waits, {}},
    WasteRule{idle_of_host_sampling, Change::device_sampling, {}},
    WasteRule{idle_between_steps, Change::between_steps, {}},
    WasteRule{idle_without_exposed_copies, Change::pinned_copies, Change::copy_stream},
    WasteRule{idle_of<IdleCause::allocation>, Change::allocation, {}},
    WasteRule{idle_of<IdleCause::host_compute, IdleCause::nothing_submitted, IdleCause::compilation>,
              Change::long_host_code,
              {}},
    WasteRule{idle_of<IdleCause::launch>, Change::cuda_graph, {}},
    WasteRule{nothing_idle, Change::tensor_cores, {}},
    WasteRule{nothing_idle, Change::fused_optimizer, {}},
    WasteRule{nothing_idle, Change::bf16_products, {}},
    WasteRule{nothing_idle, Change::fused_attention, {}},
    WasteRule{nothing_idle, Change::padded_products, {}},
    WasteRule{nothing_idle, Change::one_layout, {}},
    WasteRule{exposed_waits_for_ranks, Change::late_ranks, {}},
    WasteRule{exposed_communication, Change::communication, {}},
};
constexpr std::size_t kWastes = kWasteRules.size();
static_assert(kWastes == static_cast<std::size_t>(Waste::communication) + 1);

// The change that alone removes a cause best; absent if each gains too little.
std::optional<Prediction> best_against(const Facts& facts, const WasteRule& rule) {
    auto alone = [&](Change change) -> const std::optional<Prediction>& {
        return facts.get<SingleChanges>().worth[static_cast<std::size_t>(change)];
    };
    const std::optional<Prediction>& first = alone(rule.change);
    if (!rule.other) return first;
    const std::optional<Prediction>& other = alone(*rule.other);
    return other && (!first || other->gain > first->gain + kWorthChanging) ? other : first;
}

struct Gains {
    std::array<Gain, kWastes> by_waste;
    static Gains make(const Facts& facts);
};

// Predictions of the causes that a plan removes: the best first, then each that still gains enough on top of it. What another
// change gives anyway is no finding.
void add_predictions(const Facts& facts, Gains& gains) {
    std::vector<Edit> against;
    std::array<std::optional<Prediction>, kWastes> best;
    for (std::size_t i = 0; i < kWastes; ++i) {
        best[i] = best_against(facts, kWasteRules[i]);
        if (best[i]) against.push_back(best[i]->edits.front());
    }
    const WhatIf& all = facts.get<WhatIf>();
    KnownSteps known = all.steps;
    std::vector<Edit> plan = plan_of(facts, std::move(against), known);
    const Shares& shares = facts.get<Shares>();
    auto steps = static_cast<DurNs>(facts.get<ReplayGraph>().steps.size());
    for (std::size_t i = 0; i < kWastes; ++i) {
        Gain& gain = gains.by_waste[i];
        gain.ns = 0;
        gain.pct = 0;
        if (!best[i] || std::find(plan.begin(), plan.end(), best[i]->edits.front()) == plan.end()) continue;
        gain.predicted = std::move(best[i]);
        gain.pct = 100 * gain.predicted->gain;
        DurNs saved = all.baseline.step.central - gain.predicted->step.central;
        gain.ns = std::min(saved * steps * static_cast<DurNs>(shares.devices), shares.window);
    }
}

Gains Gains::make(const Facts& facts) {
    Gains gains;
    for (std::size_t i = 0; i < kWastes; ++i) {
        Gain& gain = gains.by_waste[i];
        gain.idle_ns = gain.ns = kWasteRules[i].idle(facts);
        gain.pct = facts.get<Shares>().effective_pct(gain.idle_ns);
    }
    if (facts.get<Replayed>().holds) add_predictions(facts, gains);
    return gains;
}

}  // namespace

PredictedGain predicted_gain(const Prediction& prediction) {
    const Edit& last = prediction.edits.back();
    return {.change = text_of(last),
            .step_before = prediction.unchanged,
            .step = prediction.step.central,
            .step_low = prediction.step.low,
            .step_high = prediction.step.high,
            .gain_pct = 100 * prediction.gain,
            .gain_low_pct = 100 * prediction.gain_low,
            .gain_high_pct = 100 * prediction.gain_high,
            .certainty = std::string(name_of(prediction.certainty)),
            .assumes = std::string(rule_of(last.change).assumes),
            .effort = rule_of(last.change).effort};
}

const Gain& gain_without(const Facts& facts, Waste waste) {
    return facts.get<Gains>().by_waste[static_cast<std::size_t>(waste)];
}

Replayed Replayed::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    std::size_t ops = trace.kernel().rows + trace.memcpy().rows + trace.memset().rows;
    if (ops > kMaxReplayed) return {.holds = false, .too_large = true};
    if (!facts.get<ReplayValidity>().why_not.empty()) return {};
    if (facts.get<ReplayGraph>().steps.size() < kSureSteps) return {};
    DurNs steps = facts.get<WhatIf>().recorded_step * static_cast<DurNs>(facts.get<ReplayGraph>().steps.size());
    return {.holds = 2 * steps >= trace.window().length()};
}

double share_of_whole(const Facts& facts, DurNs time) {
    double share = facts.get<Shares>().pct(time);
    if (facts.get<Replayed>().holds) {
        const WhatIf& whatif = facts.get<WhatIf>();
        if (DurNs step = whatif.baseline.step.central; step > 0)
            share *= static_cast<double>(whatif.recorded_step) / static_cast<double>(step);
    }
    return std::min(share, 100.0);
}

std::string share_text(const Facts& facts, DurNs time) {
    return fmt::format("{} % of {}", readable_percent(share_of_whole(facts, time)),
                       facts.get<Replayed>().holds ? "a step" : "the time");
}

}  // namespace gpuprof::replay
