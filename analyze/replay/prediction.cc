#include "analyze/replay/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/facts/facts.h"
#include "analyze/facts/host/host_copies.h"
#include "analyze/facts/host/link_to_host.h"
#include "analyze/facts/host/peer_waits.h"
#include "analyze/facts/idle/arrivals.h"
#include "analyze/facts/kernels/kernel_bound.h"
#include "analyze/facts/kernels/unfused_attention.h"
#include "analyze/facts/shares.h"
#include "analyze/facts/steps/iterations.h"
#include "analyze/facts/steps/phases.h"
#include "analyze/facts/steps/serving_phases.h"
#include "analyze/facts/steps/step_finder.h"
#include "analyze/facts/steps/sufficiency.h"
#include "analyze/facts/validity.h"
#include "analyze/replay/kernel_speed.h"
#include "analyze/replay/replayer.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline replay {
namespace {

// With fewer than kSureSteps, the steps do not tell how much they vary: measured on simulated programs, of which so few steps were recorded
// (tests/simulate/whatif.py --steps).
constexpr double kSpreadOfOneStep = 0.3, kSpreadOfTwoSteps = 0.2;
// What steps that hardly vary leave uncertain: without it, 13 % of the ranges called good missed the truth of simulated programs, by less.
constexpr double kLeastSpread = 0.01;
// The part of the window that few steps must fill: what they leave out is otherwise most of the program.
constexpr double kLeastOfWindow = 0.5;
constexpr double kMaxModelError = 0.02, kMaxUnexplained = 0.05, kMaxWithoutCall = 0.01;
// Of the time, in which a device waited for a host that slept. What a shorter step leaves of such a wait is unknown.
constexpr double kMaxSleeping = 0.05;
// The recorder's cost, and the speed of a link that is not recorded, make a prediction rough when their range moves the step by more.
constexpr double kMaxConstantsRange = 0.05;
// Of a step, by which a replay without inferred events may miss it and still be possible.
constexpr double kMaxWithoutEvents = 0.05;
// Kernels that newly run together matter from this part of the time of kernels.
constexpr double kMaxNewOverlap = 0.05;

double part(DurNs of, DurNs whole) { return whole == 0 ? 0 : static_cast<double>(of) / static_cast<double>(whole); }

// Twice the standard error of the steps, as a part of one: another recording of the same program would differ by as much.
double spread_of_steps(const ReplayGraph& graph, double step_error) {
    if (graph.steps.size() < kSureSteps) return graph.steps.size() < 2 ? kSpreadOfOneStep : kSpreadOfTwoSteps;
    return std::max(kLeastSpread, 2 * step_error);
}

// The ways to replay this recording, the central one first, and the steps of each with nothing changed.
struct Variants {
    std::vector<Variant> all;
    std::vector<ReplayedSteps> unchanged;
    DurNs recorded = 0;     // the step with the recorder's cost
    KernelOverlap overlap;  // of the central one
    static Variants make(const Facts& facts) {
        const ReplayGraph& graph = facts.get<ReplayGraph>();
        Variants made;
        made.all = {{.recorder = Estimate::central}, {.recorder = Estimate::central, .residuals = false}};
        if (!graph.recorded_work.empty()) {
            made.all.push_back({.recorder = Estimate::low});
            made.all.push_back({.recorder = Estimate::high});
        }
        if (graph.inferred_events > 0) made.all.push_back({.recorder = Estimate::central, .events = false});
        made.unchanged.resize(made.all.size());
        for_each_replay(facts, made.all.size(), [&](std::size_t i, Replayer& replayer) {
            replayer.set({}, made.all[i]);
            made.unchanged[i] = replayer.replay(i == 0);
            if (i == 0) made.overlap = replayer.overlap();
        });
        // Without events that were inferred, the steps would have been shorter than recorded: the recording says that they are there.
        if (!made.all.back().events &&
            part(made.step() - made.unchanged.back().step, made.step()) > kMaxWithoutEvents) {
            made.all.pop_back();
            made.unchanged.pop_back();
        }
        return made;
    }
    // The central step.
    DurNs step() const { return unchanged.front().step; }
};

double standard_error(const std::vector<TimeNs>& ends) {
    double mean = static_cast<double>(per_step(ends)), squares = 0;
    for (std::size_t i = 1; i < ends.size(); ++i) {
        double difference = static_cast<double>(ends[i] - ends[i - 1]) - mean;
        squares += difference * difference;
    }
    auto n = static_cast<double>(ends.size() - 1);
    return n < 2 || mean <= 0 ? 0 : std::sqrt(squares / (n - 1) / n) / mean;
}

}  // namespace

std::string_view name_of(Certainty certainty) { return certainty == Certainty::good ? "good" : "rough"; }

std::unique_ptr<const Facts> facts_for_replays(const Facts& known) {
    auto facts = std::make_unique<Facts>(known.trace(), known.options());
    facts->put(known.get<Validity>());
    facts->put(known.get<Arrivals>());
    facts->put(known.get<Shares>());
    facts->put(known.get<KernelGroups>());
    facts->put(known.get<Iterations>());
    facts->put(known.get<EngineStretches>());
    facts->put(known.get<Steps>());
    facts->put(known.get<Phases>());
    facts->put(known.get<ServingPhases>());
    facts->put(known.get<PeerWaits>());
    facts->put(known.get<UnfusedAttention>());
    return facts;
}

void make_graph(const Facts& facts, Trace& trace) {
    // How kernels were launched is in their groups and phases, and who launched them in the links.
    static const ColumnSelection launches{{"kernel",
                                           "grid_x grid_y grid_z block_x block_y block_z registers shared_bytes "
                                           "local_bytes cluster_x cluster_y cluster_z"},
                                          {"api_call", "external_id"}},
        operators{{"kernel", "correlation external_id"}}, calls{{"api_call", "correlation"}};
    trace.drop(launches);
    if (trace.op().rows == 0) trace.drop(operators);
    (void)facts.get<ReplayGraph>();  // counts calls that were not recorded, and finds those that synchronised
    trace.drop(calls);
}

ReplayValidity ReplayValidity::make(const Facts& facts) {
    const ReplayGraph& graph = facts.get<ReplayGraph>();
    ReplayValidity found;
    auto refuse = [&](std::string why, std::string cure) {
        found.why_not = std::move(why);
        found.cure = std::move(cure);
        return found;
    };
    if (!graph.why_not.empty()) return refuse(graph.why_not, "record CUDA calls as well as kernels");
    if (graph.ops == 0) return refuse("nothing ran on the GPU", "record GPU activity");
    if (std::string why = facts.get<Validity>().no_prediction(); !why.empty())
        return refuse(std::move(why), "record again; see `validity`");
    if (work_missing(facts.trace()))
        return refuse("much of the device work was not recorded", "record a shorter part, or use larger buffers");
    switch (facts.get<Arrivals>().pattern) {
        case ArrivalPattern::paced:
            return refuse("work starts at a constant period, however long it takes",
                          "let the program run as fast as it can, without its clock");
        case ArrivalPattern::requests:
        case ArrivalPattern::unproved:
            return refuse("work starts, or may start, when something outside the program asks for it",
                          "record under a load that always leaves work to do");
        case ArrivalPattern::none: break;
    }
    const Shares& shares = facts.get<Shares>();
    if (part(shares.idle_of(IdleCause::waiting), shares.window) > kMaxSleeping)
        return refuse(fmt::format("the host slept in {} % of the time, and what woke it was not recorded",
                                  readable_percent(shares.pct(shares.idle_of(IdleCause::waiting)))),
                      "record the other threads and processes as well");
    if (graph.steps.empty()) return refuse("no steps found", "name the range of a step with --step-range");
    for (const ReplayGraph::Completion& step : graph.steps)
        if (step.ops.empty()) return refuse("a step submits no GPU work", "name the range of a step with --step-range");
    if (part(static_cast<DurNs>(graph.ops_without_call), static_cast<DurNs>(graph.ops)) > kMaxWithoutCall)
        return refuse(
            fmt::format("the calls of {} of {} GPU operations were not recorded", graph.ops_without_call, graph.ops),
            "start recording before the first launch, and record all CUDA calls");
    const std::vector<TimeNs>& ends = facts.get<RecordedSteps>().ends;
    DurNs step = per_step(ends);
    if (step <= 0) return refuse("steps overlap", "name the range of a step with --step-range");
    auto count = static_cast<DurNs>(graph.steps.size());
    if (graph.steps.size() < kSureSteps &&
        kLeastOfWindow * static_cast<double>(facts.trace().window().length()) > static_cast<double>(count * step))
        return refuse(
            fmt::format("only {}, and most of the recording is outside", readable_count(graph.steps.size(), "step")),
            "record at least 3 steps; name the range of a step with --step-range");
    Scenario typical(graph);
    typical.residuals = false;
    DurNs model = per_step(replay_completions(graph, typical, facts.trace()));
    found.model_error = part(model - step, step);
    found.unexplained = part(graph.unexplained_ns, step * static_cast<DurNs>(graph.steps.size()));
    found.step_error = standard_error(ends);
    found.inferred = graph.inferred_events > 0 || graph.unsure_events > 0 || graph.unsure_syncs > 0;
    if (std::abs(found.model_error) > kMaxModelError)
        return refuse(fmt::format("replaying the recording misses its step time by {:.1f} %", 100 * found.model_error),
                      "record synchronization events as well");
    if (found.unexplained > kMaxUnexplained)
        return refuse(fmt::format("{:.0f} % of the step time passes before operations that nothing recorded holds back",
                                  100 * found.unexplained),
                      "record synchronization events, and all processes and threads that submit work");
    return found;
}

namespace {

// How much longer a step may be because kernels run together that did not: up to the time that they newly overlap. 0 if that is a
// small part of the time of kernels.
DurNs new_overlap(const ReplayGraph& graph, const KernelOverlap& now, const KernelOverlap& before) {
    DurNs more = now.overlap - before.overlap;
    if (part(more, now.kernels) <= kMaxNewOverlap) return 0;
    return more / static_cast<DurNs>(graph.steps.size());
}

// Whether how fast pinned copies are was not recorded.
bool assumes_a_link(const Facts& facts, Change change) {
    if (change != Change::pinned_copies && change != Change::copy_stream) return false;
    return facts.get<HostCopies>().pageable > 0 && facts.get<HostLink>().basis != LinkBasis::copies;
}

// `central` is what `replayer` replayed last, with its times.
Prediction prediction_of(const Facts& facts, const std::vector<Edit>& edits, Replayer& replayer,
                         const ReplayedSteps& central) {
    const Variants& variants = facts.get<Variants>();
    const ReplayGraph& graph = facts.get<ReplayGraph>();
    const DurNs step = central.step, base = variants.step();
    const DurNs slower = new_overlap(graph, replayer.overlap(), variants.overlap);
    const bool recorder = !graph.recorded_work.empty();
    auto with = [&](const Variant& variant) {
        replayer.set(edits, variant);
        return replayer.replay();
    };
    Prediction found{.edits = edits, .step = {step, step, step}, .recorded = recorder ? with({}).step : step};
    found.unchanged = base;
    found.gain = found.gain_low = found.gain_high = part(base - step, base);
    bool rough = facts.get<ReplayValidity>().inferred || !graph.independent.empty() || graph.steps.size() < kSureSteps;
    bool estimated = false, link = false;
    for (const Edit& edit : edits) {
        estimated |= rule_of(edit.change).estimated;
        rough |= rule_of(edit.change).rough;
        link |= assumes_a_link(facts, edit.change);
    }
    auto widen = [&](DurNs time, DurNs unchanged) {
        found.step.low = std::min(found.step.low, time);
        found.step.high = std::max(found.step.high, time);
        double gain = part(unchanged - time, unchanged);
        found.gain_low = std::min(found.gain_low, gain);
        found.gain_high = std::max(found.gain_high, gain);
        return std::abs(part(time - step, step)) > kMaxConstantsRange / 2;
    };
    // The least floor of all estimates, of the recorder and of the changes.
    DurNs least = central.floor;
    for (std::size_t i = 1; i < variants.all.size(); ++i) {
        const ReplayedSteps changed = with(variants.all[i]);
        bool far = widen(changed.step, variants.unchanged[i].step);
        if (*variants.all[i].recorder == Estimate::central) continue;
        rough |= far;
        if (!estimated) least = std::min(least, changed.floor);
    }
    for (Estimate effect : {Estimate::low, Estimate::high}) {
        if (!estimated) break;
        const ReplayedSteps changed = with({.recorder = Estimate::central, .effect = effect});
        rough |= widen(changed.step, base) && link;
        if (!recorder)
            least = std::min(least, changed.floor);
        else if (replayer.set(edits, {.recorder = effect, .effect = effect}))
            least = std::min(least, replayer.floor());
    }
    if (slower > 0) {
        rough = true;
        found.step.high = std::max(found.step.high, step + slower);
        found.gain_low = std::min(found.gain_low, part(base - step - slower, base));
    }
    double spread = spread_of_steps(graph, standard_error(central.ends));
    found.floor = least - static_cast<DurNs>(spread * static_cast<double>(least));
    found.step.low -= static_cast<DurNs>(spread * static_cast<double>(found.step.low));
    found.step.low = std::max(found.step.low, found.floor);
    found.step.high += static_cast<DurNs>(spread * static_cast<double>(found.step.high));
    found.certainty = rough ? Certainty::rough : Certainty::good;
    return found;
}

std::optional<Prediction> predict(const Facts& facts, const std::vector<Edit>& edits, Replayer& replayer) {
    if (!replayer.set(edits, facts.get<Variants>().all.front())) return std::nullopt;
    return prediction_of(facts, edits, replayer, replayer.replay(true));
}

}  // namespace

std::optional<Prediction> predict(const Facts& facts, const std::vector<Edit>& edits) {
    (void)facts.get<Variants>();  // whose replays need memory too, before this one has its
    Replayer replayer(facts);
    return predict(facts, edits, replayer);
}

CriticalPath critical_path_of(const Facts& facts, Estimate recorder, const std::vector<Edit>& edits,
                              const SeePart& see) {
    const ReplayGraph& graph = facts.get<ReplayGraph>();
    Scenario scenario(graph);
    remove_recorder(facts, graph, scenario, recorder);
    for (const Edit& edit : edits) apply(edit, facts, graph, scenario);
    return critical_path(graph, scenario, replay_times(graph, scenario, facts.trace()), see);
}

namespace {

// A gain as it competes with others.
DurNs weighted(DurNs gain, Change change) {
    return static_cast<DurNs>(weight_of(rule_of(change).effort) * static_cast<double>(gain));
}

}  // namespace

std::vector<Edit> plan_of(const Facts& facts, std::vector<Edit> useful, KnownSteps& known) {
    const Variants& variants = facts.get<Variants>();
    std::vector<Edit> chosen;
    std::vector<Change> with;  // of `chosen`, and then of each edit in turn
    DurNs now = variants.step();
    auto margin = static_cast<DurNs>(kWorthChanging * static_cast<double>(now));
    while (!useful.empty()) {
        std::size_t best = 0;
        DurNs best_gain = 0, best_worth = 0;
        std::vector<std::optional<DurNs>*> steps;
        std::vector<std::size_t> unknown;
        with.emplace_back();
        for (const Edit& edit : useful) {
            with.back() = edit.change;
            auto [at, first] = known.try_emplace(with);
            if (first) unknown.push_back(steps.size());
            steps.push_back(&at->second);
        }
        for_each_replay(facts, unknown.size(), [&](std::size_t i, Replayer& replayer) {
            std::vector<Edit> edits = chosen;
            edits.push_back(useful[unknown[i]]);
            if (replayer.set(edits, variants.all.front())) *steps[unknown[i]] = replayer.replay().step;
        });
        for (std::size_t i = 0; i < useful.size(); ++i) {
            const std::optional<DurNs>& step = *steps[i];
            if (!step || now - *step < margin) continue;
            // Of two that are worth nearly the same, the earlier one asks less of the program.
            DurNs worth = weighted(now - *step, useful[i].change);
            if (best_gain > 0 && worth <= best_worth + margin) continue;
            best = i;
            best_gain = now - *step;
            best_worth = worth;
        }
        if (best_gain == 0) break;
        now -= best_gain;
        chosen.push_back(useful[best]);
        with.back() = useful[best].change;
        useful.erase(useful.begin() + static_cast<std::ptrdiff_t>(best));
    }
    return chosen;
}

SingleChanges SingleChanges::make(const Facts& facts) {
    SingleChanges found;
    const Variants& variants = facts.get<Variants>();
    std::array<std::optional<DurNs>, kUsualChanges> steps;
    for_each_replay(facts, kUsualChanges, [&](std::size_t i, Replayer& replayer) {
        std::vector<Edit> edits{usual_edit(static_cast<Change>(i))};
        if (!replayer.set(edits, variants.all.front())) return;
        const ReplayedSteps changed = replayer.replay(true);
        steps[i] = changed.step;
        if (part(variants.step() - changed.step, variants.step()) < kWorthChanging) return;
        Prediction alone = prediction_of(facts, edits, replayer, changed);
        if (alone.gain_low > 0) found.worth[i] = std::move(alone);
    });
    for (std::size_t i = 0; i < kUsualChanges; ++i) found.steps[{static_cast<Change>(i)}] = steps[i];
    return found;
}

WhatIf WhatIf::make(const Facts& facts) {
    WhatIf found;
    if (!facts.get<ReplayValidity>().why_not.empty()) return found;
    found.baseline = *predict(facts, {});
    found.recorded_step = found.baseline.recorded;
    const SingleChanges& singles = facts.get<SingleChanges>();
    for (std::size_t i = 0; i < kUsualChanges; ++i) {
        if (singles.worth[i]) found.single.push_back(*singles.worth[i]);
        if (singles.possible(i) && !singles.worth[i]) found.small.push_back(static_cast<Change>(i));
    }
    std::stable_sort(found.single.begin(), found.single.end(), [](const Prediction& a, const Prediction& b) {
        return weighted(a.unchanged - a.step.central, a.edits.front().change) >
               weighted(b.unchanged - b.step.central, b.edits.front().change);
    });
    std::vector<Edit> useful;
    for (std::size_t i = 0; i < kUsualChanges; ++i)
        if (singles.possible(i) && !rule_of(static_cast<Change>(i)).limit)
            useful.push_back(usual_edit(static_cast<Change>(i)));
    found.steps = singles.steps;
    const std::vector<Edit> plan = plan_of(facts, useful, found.steps);
    found.plan.resize(plan.size());
    for_each_replay(facts, plan.size(), [&](std::size_t i, Replayer& replayer) {
        std::vector<Edit> edits(plan.begin(), plan.begin() + static_cast<std::ptrdiff_t>(i + 1));
        const std::optional<Prediction>& alone = singles.worth[static_cast<std::size_t>(plan.front().change)];
        found.plan[i] = i == 0 && alone ? *alone : *predict(facts, edits, replayer);
    });
    found.floor = found.baseline.floor;
    for (const std::vector<Prediction>* shown : {&found.single, &found.plan})
        for (const Prediction& each : *shown) found.floor = std::min(found.floor, each.floor);
    return found;
}

}  // namespace gpuprof::replay
