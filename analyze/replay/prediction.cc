#include "analyze/replay/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "analyze/facts/facts.h"
#include "analyze/facts/host/host_copies.h"
#include "analyze/facts/host/link_to_host.h"
#include "analyze/facts/idle/arrivals.h"
#include "analyze/facts/shares.h"
#include "analyze/facts/steps/sufficiency.h"
#include "analyze/facts/validity.h"
#include "analyze/replay/kernel_speed.h"
#include "core/base/parallel.h"
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

DurNs per_step(const std::vector<TimeNs>& ends) {
    return (ends.back() - ends.front()) / static_cast<DurNs>(ends.size() - 1);
}

// A way to replay a recording with changes.
struct Variant {
    std::optional<Estimate> recorder;  // whose cost is removed; absent: it stays
    bool residuals = true;
    bool events = true;
    Estimate effect = Estimate::central;
};

// The recording with changes; absent if one of them changes nothing.
std::optional<Scenario> scenario_with(const Facts& facts, const std::vector<Edit>& edits, Variant variant) {
    const ReplayGraph& graph = facts.get<ReplayGraph>();
    Scenario scenario(graph);
    scenario.residuals = variant.residuals;
    if (!variant.events) scenario.drop(EdgeKind::event);
    if (variant.recorder) remove_recorder(facts, graph, scenario, *variant.recorder);
    for (const Edit& edit : edits)
        if (!apply(edit, facts, graph, scenario, variant.effect)) return std::nullopt;
    return scenario;
}

// A replay: its scenario and the time of each point.
struct Replay {
    const ReplayGraph& graph;
    Scenario scenario;
    PodVector<TimeNs> times;
    std::vector<TimeNs> completions() const { return gpuprof::completions(graph, scenario, times); }
};

Replay replayed(const Facts& facts, Scenario scenario) {
    const ReplayGraph& graph = facts.get<ReplayGraph>();
    PodVector<TimeNs> times = replay_times(graph, scenario, facts.trace());
    return {graph, std::move(scenario), std::move(times)};
}

// Kernels that run together matter only if there is more than one stream.
KernelOverlap overlap_of(const Replay& replay) {
    if (replay.graph.streams.size() < 2) return {};
    return kernel_overlap(replay.graph, replay.scenario, replay.times);
}

double part(DurNs of, DurNs whole) { return whole == 0 ? 0 : static_cast<double>(of) / static_cast<double>(whole); }

// The kernels of each stream that run between the completions of the first step and the last: a stream runs one after the other, so the
// busiest one is a floor under every step. Those that overlap on their stream in the recording count once.
struct StreamWork {
    struct Kernel {
        Point point;
        TimeNs start;
    };
    std::vector<Kernel> kernels;
    TimeNs begin = 0;
    DurNs steps = 1;
    static StreamWork make(const Facts& facts) {
        const ReplayGraph& graph = facts.get<ReplayGraph>();
        std::vector<TimeNs> ends = replayed(facts, Scenario(graph)).completions();
        StreamWork work{{}, ends.front(), static_cast<DurNs>(ends.size() - 1)};
        for (Point p = 0; p < graph.points(); ++p) {
            if (graph.info[p].kind != PointKind::op || !graph.info[p].in_step) continue;
            if (op_kind(graph.object[p]) != DeviceOp::kernel) continue;
            if (TimeNs start = recorded_start(facts.trace(), graph.object[p]); start < ends.back())
                work.kernels.push_back({p, start});
        }
        return work;
    }
    // Of the busiest stream, per step.
    DurNs floor(const ReplayGraph& graph, const Scenario& scenario) const {
        std::vector<DurNs> work(graph.streams.size(), 0);
        std::vector<TimeNs> until(graph.streams.size(), begin);
        for (const Kernel& kernel : kernels) {
            TimeNs end = kernel.start + scenario.length[kernel.point];
            TimeNs& last = until[graph.info[kernel.point].lane];
            work[graph.info[kernel.point].lane] += std::max<DurNs>(0, end - std::max(kernel.start, last));
            last = std::max(last, end);
        }
        return work.empty() ? 0 : *std::max_element(work.begin(), work.end()) / steps;
    }
};

// A step of a replay. One that is shorter than its kernels is none: the replay has lost an order that the program needs.
DurNs step_of(const Facts& facts, const Replay& replay) {
    return std::max(per_step(replay.completions()), facts.get<StreamWork>().floor(replay.graph, replay.scenario));
}

// Absent if one of the changes changes nothing.
std::optional<DurNs> step_with(const Facts& facts, const std::vector<Edit>& edits, Variant variant) {
    std::optional<Scenario> scenario = scenario_with(facts, edits, variant);
    if (!scenario) return std::nullopt;
    return step_of(facts, replayed(facts, std::move(*scenario)));
}

// Twice the standard error of the steps, as a part of one: another recording of the same program would differ by as much.
double spread_of_steps(const ReplayGraph& graph, double step_error) {
    if (graph.steps.size() < kSureSteps) return graph.steps.size() < 2 ? kSpreadOfOneStep : kSpreadOfTwoSteps;
    return std::max(kLeastSpread, 2 * step_error);
}

// The floor under all of a prediction's range.
DurNs least_floor(const Facts& facts, const std::vector<Edit>& edits, double spread) {
    DurNs least = std::numeric_limits<DurNs>::max();
    for (Estimate estimate : {Estimate::low, Estimate::central, Estimate::high})
        if (std::optional<Scenario> scenario = scenario_with(facts, edits, {.recorder = estimate, .effect = estimate}))
            least = std::min(least, facts.get<StreamWork>().floor(facts.get<ReplayGraph>(), *scenario));
    return least - static_cast<DurNs>(spread * static_cast<double>(least));
}

// Calls work(i) for every i < n, several at once if the recording is long enough for a thread, and no more than two if it is so long that
// memory matters: a replay needs 16 bytes per point.
void for_each_replay(const Facts& facts, std::size_t n, const std::function<void(std::size_t)>& work) {
    constexpr std::size_t kMinPoints = 100'000, kManyPoints = 1'000'000;
    std::size_t points = facts.get<ReplayGraph>().points();
    unsigned threads = points < kMinPoints ? 1 : default_threads();
    run_parallel(n, points < kManyPoints ? threads : std::min(threads, 2u), [&](std::size_t i, unsigned) { work(i); });
}

// The ways to replay this recording, the central one first, and the step time of each with nothing changed.
struct Variants {
    std::vector<Variant> all;
    std::vector<DurNs> unchanged;
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
        for_each_replay(facts, made.all.size(), [&](std::size_t i) {
            Replay unchanged = replayed(facts, *scenario_with(facts, {}, made.all[i]));
            if (i == 0) made.overlap = overlap_of(unchanged);
            made.unchanged[i] = step_of(facts, unchanged);
        });
        // Without events that were inferred, the steps would have been shorter than recorded: the recording says that they are there.
        if (!made.all.back().events &&
            part(made.unchanged.front() - made.unchanged.back(), made.unchanged.front()) > kMaxWithoutEvents) {
            made.all.pop_back();
            made.unchanged.pop_back();
        }
        return made;
    }
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
    Scenario recorded(graph);
    std::vector<TimeNs> ends = replayed(facts, recorded).completions();
    DurNs step = per_step(ends);
    if (step <= 0) return refuse("steps overlap", "name the range of a step with --step-range");
    auto count = static_cast<DurNs>(graph.steps.size());
    if (graph.steps.size() < kSureSteps &&
        kLeastOfWindow * static_cast<double>(facts.trace().window().length()) > static_cast<double>(count * step))
        return refuse(
            fmt::format("only {}, and most of the recording is outside", readable_count(graph.steps.size(), "step")),
            "record at least 3 steps; name the range of a step with --step-range");
    recorded.residuals = false;
    DurNs model = per_step(replayed(facts, std::move(recorded)).completions());
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
DurNs new_overlap(const Replay& changed, const KernelOverlap& before) {
    KernelOverlap now = overlap_of(changed);
    DurNs more = now.overlap - before.overlap;
    if (part(more, now.kernels) <= kMaxNewOverlap) return 0;
    return more / static_cast<DurNs>(changed.graph.steps.size());
}

// Whether how fast pinned copies are was not recorded.
bool assumes_a_link(const Facts& facts, Change change) {
    if (change != Change::pinned_copies && change != Change::copy_stream) return false;
    return facts.get<HostCopies>().pageable > 0 && facts.get<HostLink>().basis != LinkBasis::copies;
}

}  // namespace

std::optional<Prediction> predict(const Facts& facts, const std::vector<Edit>& edits) {
    const Variants& variants = facts.get<Variants>();
    std::optional<Scenario> central = scenario_with(facts, edits, variants.all.front());
    if (!central) return std::nullopt;
    const Replay changed = replayed(facts, std::move(*central));
    const DurNs step = step_of(facts, changed);
    Prediction found{.edits = edits, .step = {step, step, step}};
    found.recorded = *step_with(facts, edits, {});
    DurNs base = found.unchanged = variants.unchanged.front();
    found.gain = found.gain_low = found.gain_high = part(base - step, base);
    const ReplayGraph& graph = facts.get<ReplayGraph>();
    bool rough = facts.get<ReplayValidity>().inferred || !graph.independent.empty() || graph.steps.size() < kSureSteps;
    auto widen = [&](const Variant& variant, DurNs unchanged) {
        DurNs time = *step_with(facts, edits, variant);
        found.step.low = std::min(found.step.low, time);
        found.step.high = std::max(found.step.high, time);
        double gain = part(unchanged - time, unchanged);
        found.gain_low = std::min(found.gain_low, gain);
        found.gain_high = std::max(found.gain_high, gain);
        return std::abs(part(time - step, step)) > kMaxConstantsRange / 2;
    };
    for (std::size_t i = 1; i < variants.all.size(); ++i) {
        bool far = widen(variants.all[i], variants.unchanged[i]);
        rough |= far && *variants.all[i].recorder != Estimate::central;
    }
    bool estimated = false, link = false;
    for (const Edit& edit : edits) {
        estimated |= rule_of(edit.change).estimated;
        rough |= rule_of(edit.change).rough;
        link |= assumes_a_link(facts, edit.change);
    }
    for (Estimate effect : {Estimate::low, Estimate::high})
        if (estimated) rough |= widen({.recorder = Estimate::central, .effect = effect}, base) && link;
    if (DurNs slower = new_overlap(changed, variants.overlap); slower > 0) {
        rough = true;
        found.step.high = std::max(found.step.high, step + slower);
        found.gain_low = std::min(found.gain_low, part(base - step - slower, base));
    }
    double spread = spread_of_steps(graph, standard_error(changed.completions()));
    found.floor = least_floor(facts, edits, spread);
    found.step.low -= static_cast<DurNs>(spread * static_cast<double>(found.step.low));
    found.step.low = std::max(found.step.low, found.floor);
    found.step.high += static_cast<DurNs>(spread * static_cast<double>(found.step.high));
    found.certainty = rough ? Certainty::rough : Certainty::good;
    return found;
}

CriticalPath critical_path_of(const Facts& facts, Estimate recorder, const std::vector<Edit>& edits) {
    const ReplayGraph& graph = facts.get<ReplayGraph>();
    Scenario scenario(graph);
    remove_recorder(facts, graph, scenario, recorder);
    for (const Edit& edit : edits) apply(edit, facts, graph, scenario);
    Replay found = replayed(facts, std::move(scenario));
    return critical_path(graph, found.scenario, found.times);
}

namespace {

// A gain as it competes with others.
DurNs weighted(DurNs gain, Change change) {
    return static_cast<DurNs>(weight_of(rule_of(change).effort) * static_cast<double>(gain));
}

}  // namespace

std::vector<Edit> plan_of(const Facts& facts, std::vector<Edit> useful) {
    const Variants& variants = facts.get<Variants>();
    std::vector<Edit> chosen;
    DurNs now = variants.unchanged.front();
    auto margin = static_cast<DurNs>(kWorthChanging * static_cast<double>(now));
    while (!useful.empty()) {
        std::size_t best = 0;
        DurNs best_gain = 0, best_worth = 0;
        std::vector<std::optional<DurNs>> steps(useful.size());
        for_each_replay(facts, useful.size(), [&](std::size_t i) {
            std::vector<Edit> with = chosen;
            with.push_back(useful[i]);
            steps[i] = step_with(facts, with, variants.all.front());
        });
        for (std::size_t i = 0; i < useful.size(); ++i) {
            const std::optional<DurNs>& step = steps[i];
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
        useful.erase(useful.begin() + static_cast<std::ptrdiff_t>(best));
    }
    return chosen;
}

SingleChanges SingleChanges::make(const Facts& facts) {
    SingleChanges found;
    const Variants& variants = facts.get<Variants>();
    for_each_replay(facts, kUsualChanges, [&](std::size_t i) {
        std::vector<Edit> edits{usual_edit(static_cast<Change>(i))};
        std::optional<DurNs> step = step_with(facts, edits, variants.all.front());
        found.possible[i] = step.has_value();
        DurNs base = variants.unchanged.front();
        if (!step || part(base - *step, base) < kWorthChanging) return;
        std::optional<Prediction> alone = predict(facts, edits);
        if (alone->gain_low > 0) found.worth[i] = std::move(alone);
    });
    return found;
}

WhatIf WhatIf::make(const Facts& facts) {
    WhatIf found;
    if (!facts.get<ReplayValidity>().why_not.empty()) return found;
    found.recorded_step = *step_with(facts, {}, {});
    found.baseline = *predict(facts, {});
    const SingleChanges& singles = facts.get<SingleChanges>();
    for (std::size_t i = 0; i < kUsualChanges; ++i) {
        if (singles.worth[i]) found.single.push_back(*singles.worth[i]);
        if (singles.possible[i] && !singles.worth[i]) found.small.push_back(static_cast<Change>(i));
    }
    std::stable_sort(found.single.begin(), found.single.end(), [](const Prediction& a, const Prediction& b) {
        return weighted(a.unchanged - a.step.central, a.edits.front().change) >
               weighted(b.unchanged - b.step.central, b.edits.front().change);
    });
    std::vector<Edit> useful;
    for (std::size_t i = 0; i < kUsualChanges; ++i)
        if (singles.possible[i] && !rule_of(static_cast<Change>(i)).limit)
            useful.push_back(usual_edit(static_cast<Change>(i)));
    const std::vector<Edit> plan = plan_of(facts, useful);
    found.plan.resize(plan.size());
    for_each_replay(facts, plan.size(), [&](std::size_t i) {
        found.plan[i] = *predict(facts, {plan.begin(), plan.begin() + static_cast<std::ptrdiff_t>(i + 1)});
    });
    found.floor = found.baseline.floor;
    for (const std::vector<Prediction>* shown : {&found.single, &found.plan})
        for (const Prediction& each : *shown) found.floor = std::min(found.floor, each.floor);
    return found;
}

}  // namespace gpuprof::replay
