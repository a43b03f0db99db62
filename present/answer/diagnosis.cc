#include "present/answer/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <future>

#include "analyze/facts/activity.h"
#include "analyze/facts/context.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/host/peer_waits.h"
#include "analyze/facts/idle/gaps.h"
#include "analyze/facts/kernels/kernel_bound.h"
#include "analyze/facts/kernels/kernel_occupancy.h"
#include "analyze/facts/kernels/op_rates.h"
#include "analyze/facts/memory/managed_migrations.h"
#include "analyze/facts/shares.h"
#include "analyze/facts/steps/between_steps.h"
#include "analyze/facts/steps/serving_phases.h"
#include "analyze/facts/steps/step_finder.h"
#include "analyze/facts/steps/sufficiency.h"
#include "analyze/replay/gain.h"
#include "analyze/rules/rule_list.h"
#include "analyze/tables/cells.h"
#include "core/base/parallel.h"
#include "core/base/text/function_name.h"
#include "core/base/text/readable.h"
#include "core/model/answer.h"
#include "core/model/build/damage.h"
#include "present/answer/analyses.h"
#include "present/answer/explanations.h"
#include "present/answer/pauses.h"

namespace gpuprof::inline answer {
namespace {

// The verdict: the one limiter of the recorded run, or "cannot tell". It compares the parts of the window
// (facts/shares.h) after taking out what the recorder made itself, and abstains rather than guesses.

// A runner-up of at least this part of the winner makes the verdict "mixed".
constexpr double kMixed = 0.85;
// A runner-up of at least this part of the winner lowers the confidence.
constexpr double kCloseSecondRatio = 0.7;
// Of two limits near each other on the path, the idle time of one is this many times that of the other.
constexpr DurNs kTellingIdle = 3;
// A winner below this share of the effective window explains too little to be the verdict.
constexpr double kMinVerdictPct = 20;
// Compute-bound with this share of the effective window, at this share of the device's peak or more, is near the limit.
constexpr double kMinHealthyPct = 80, kMinHealthyRatePct = 65;
// Alternatives below this share of the window are not worth a line.
constexpr double kMinAlternativePct = 1;
// Work between steps is named with the verdict from this share of the window.
constexpr double kMinBetweenPct = 10;
// If the device does both, arithmetic decides even if moving data takes slightly longer: data-moving kernels can be
// fused into arithmetic ones, so arithmetic is the lower bound.
constexpr double kFloor = 0.8;

Verdict cannot_tell(std::string because) {
    Verdict verdict;
    verdict.conclude(Limit::unknown);
    verdict.because = std::move(because);
    return verdict;
}

Candidate candidate(const Explanation& each, const Explanations& of) {
    std::optional<double> back;
    if (each.gives_back) back = of.pct(*each.gives_back);
    return {std::string(name_of(each.limit)), of.pct(each.time), back, each.because};
}

// A clock decides how often work starts, whatever takes longer.
constexpr double kMinPacedPct = 10;

// Between arithmetic and moving data, the lower bound decides.
Explanations order_by_lower_bound(Explanations found) {
    std::vector<Explanation>& all = found.all;
    auto of = [&](Limit limit) {
        return std::find_if(all.begin(), all.end(), [&](const Explanation& each) { return each.limit == limit; });
    };
    auto compute = of(Limit::compute), memory = of(Limit::memory_bandwidth);
    if (memory < compute && static_cast<double>(compute->time) >= kFloor * static_cast<double>(memory->time))
        std::rotate(memory, compute, compute + 1);
    if (auto paced = of(Limit::paced); paced != all.end() && found.effective_pct(paced->time) >= kMinPacedPct)
        std::rotate(all.begin(), paced, paced + 1);
    return found;
}

// What already works well and is worth mentioning with the verdict.
std::string praise(const Facts& facts, const Shares& shares) {
    DurNs copies = 0;
    for (const DeviceActivity& device : facts.get<Activity>().devices) copies += length(device.memcpy);
    if (facts.get<ManagedMigrations>().limited > 0) return "";  // these are in the kernels that wait for them
    if (shares.pct(copies) < kMinAlternativePct || 10 * shares.exposed_memcpy > copies) return "";
    return fmt::format("; copies ({}) are hidden behind kernels", readable_duration(copies));
}

// The peak of FP32 products on CUDA cores as a part of that on tensor cores, if the program has such products and the device could run
// them there: the advice is to do so, and nearness to the lower peak is none.
double part_of_tensor_peak(const Facts& facts) {
    if (!facts.get<Context>().tensor_cores) return 1;
    DurNs products = 0, compute = 0;
    for (const KernelGroup& group : facts.get<KernelGroups>().groups) {
        compute += group.by_bound[static_cast<std::size_t>(Bound::compute)];
        if (is_fp32_product_on_cuda_cores(group.traits)) products += group.total_ns;
    }
    double part = 1;
    const DeviceTable& devices = facts.trace().tables().device;
    for (Row row = 0; row < devices.rows && 5 * products > compute; ++row)
        if (std::optional<DevicePeaks> peaks = find_peaks(device_query(facts.trace(), row)))
            if (std::optional<double> tensor = peaks->tf32 ? peaks->tf32 : peaks->fp16; tensor && peaks->fp32)
                part = std::min(part, *peaks->fp32 / *tensor);
    return part;
}

// How near to the device's peak FLOP/s the compute-bound operators come, in percent, when shapes were recorded: the peak that the
// program could reach with the advice that it gets.
std::optional<double> nearness(const Facts& facts) {
    double weighted = 0, time = 0, on_cuda_cores = part_of_tensor_peak(facts);
    for (const OpRate& rate : facts.get<OpRates>().rates) {
        if (rate.bound != Bound::compute || !rate.compute_pct) continue;
        bool cuda_cores = rate.path.unit == MathUnit::simt && rate.path.type == MathType::fp32;
        weighted += *rate.compute_pct * (cuda_cores ? on_cuda_cores : 1) * static_cast<double>(rate.device_ns);
        time += static_cast<double>(rate.device_ns);
    }
    return time > 0 ? std::optional<double>(weighted / time) : std::nullopt;
}

// What can be said of kernels whose limiter is unknown, if they take most of the busy time.
std::string what_is_known(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    DurNs unknown = shares.kernel_of(Bound::unknown);
    if (2 * unknown < shares.busy) return "";
    const std::vector<KernelGroup>& groups = facts.get<KernelGroups>().groups;
    auto part = [](const KernelGroup& group) { return group.by_bound[static_cast<std::size_t>(Bound::unknown)]; };
    auto most = std::max_element(groups.begin(), groups.end(),
                                 [&](const KernelGroup& a, const KernelGroup& b) { return part(a) < part(b); });
    if (most == groups.end() || part(*most) == 0) return "";
    return fmt::format("; the GPU is busy {} % of the window, longest with {} ({} launch{}, {} on average)",
                       readable_percent(shares.pct(shares.busy)), short_name(facts.trace().text(most->name)),
                       readable_count(static_cast<std::int64_t>(most->count)), most->count == 1 ? "" : "es",
                       readable_duration(most->total_ns / static_cast<DurNs>(most->count)));
}

// How much of the time is spent between steps, if that is worth a word.
std::string spent_between_steps(const Facts& facts) {
    const BetweenSteps& between = facts.get<BetweenSteps>();
    const Shares& shares = facts.get<Shares>();
    double pct = shares.pct(between.exposed * static_cast<DurNs>(shares.devices));
    if (pct < kMinBetweenPct) return "";
    return fmt::format("; work between steps{} takes {} % of the time",
                       between.name.empty() ? "" : " (" + between.name + ")", readable_percent(pct));
}

// Of a server: the phase that takes most of the time; null if there is none.
const PhaseTotals* main_phase(const Facts& facts) {
    const PhaseTotals* most = nullptr;
    for (const PhaseTotals& each : facts.get<ServingPhases>().totals)
        if (!each.steady && each.wall > 0 && (most == nullptr || each.wall > most->wall)) most = &each;
    return most;
}

// "; decode: 14 steps of 12.4 ms, 4 requests, 322 tokens/s"
std::string spoken_phase(const Facts& facts) {
    const PhaseTotals* most = main_phase(facts);
    if (most == nullptr) return "";
    bool unknown = most->phase == ServingPhase::unknown;
    std::string text =
        fmt::format("; {}{} of {}", unknown ? "" : fmt::format("{}: ", name_of(most->phase)),
                    readable_count(most->count, unknown ? "engine step" : "step"), readable_duration(most->p50));
    if (most->requests_p50)
        text += fmt::format(", {}", readable_count(static_cast<std::size_t>(*most->requests_p50), "request"));
    if (most->tokens && *most->tokens > 0)
        text += fmt::format(", {:.0f} tokens/s{}",
                            1e9 * static_cast<double>(*most->tokens) / static_cast<double>(most->wall),
                            most->phase == ServingPhase::verify ? " scheduled" : "");
    return text;
}

Basis basis_of(const Facts& facts, Limit limit) {
    if (limit == Limit::underfilled) return Basis::launch;
    if (limit != Limit::compute && limit != Limit::memory_bandwidth && limit != Limit::healthy) return Basis::timeline;
    auto bound = static_cast<std::size_t>(limit == Limit::memory_bandwidth ? Bound::memory : Bound::compute);
    DurNs by_counters = 0, by_shapes = 0, all = 0;
    for (const KernelGroup& group : facts.get<KernelGroups>().groups) {
        all += group.by_bound[bound];
        by_counters += group.by_counters[bound];
        by_shapes += group.by_shapes[bound];
    }
    if (all == 0) return Basis::timeline;  // copies within the device
    if (2 * by_counters > all) return Basis::counters;
    return 2 * by_shapes > all ? Basis::shapes : Basis::names;
}

// A name says what a kernel does, not what limits it on this device at these sizes, so a name alone never gives high
// confidence.
Rating confidence_of(const Facts& facts, const Verdict& verdict, const Explanation& first, const Explanation& second,
                     bool recorder_decides) {
    int doubts = verdict.basis == Basis::names;
    bool window = verdict.share_of == ShareOf::window;
    doubts += window && verdict.basis == Basis::timeline && facts.get<ProfilerCost>().distorted();
    doubts += recorder_decides;
    // A late rank and a slow network look alike.
    bool alike = first.limit == Limit::communication &&
                 2 * facts.get<PeerWaits>().exposed_doubtful > facts.get<Shares>().exposed_comm;
    doubts += alike ? 2 : 0;
    doubts += static_cast<double>(second.time) >= kCloseSecondRatio * static_cast<double>(first.time);
    doubts += !facts.trace().completeness().unknown_because().empty() && verdict.basis == Basis::timeline;
    doubts += verdict.basis == Basis::timeline && facts.get<Steps>().steps.empty();
    if (doubts == 0) return Rating::high;
    return doubts == 1 ? Rating::medium : Rating::low;
}

// The limit that another estimate of the recorder's cost gives; `limit` if both agree.
Limit other_limit(const Facts& facts, Limit limit) {
    if (facts.get<ReplayGraph>().recorded_work.empty()) return limit;
    for (Estimate recorder : {Estimate::low, Estimate::high})
        if (Limit other = order_by_lower_bound(explain_path(facts, recorder)).all.front().limit; other != limit)
            return other;
    return limit;
}

// The whole that the verdict divides, its parts, and what the recorder adds to it. Of the window, the recorder's idle time is a part; a step
// is without it.
void divide(const Facts& facts, const Explanations& found, Verdict& verdict) {
    const Shares& shares = facts.get<Shares>();
    bool of_path = verdict.share_of == ShareOf::critical_path;
    DurNs pieces = of_path ? static_cast<DurNs>(facts.get<ReplayGraph>().steps.size()) - 1
                           : static_cast<DurNs>(std::max<std::size_t>(shares.devices, 1));
    verdict.whole = found.whole / pieces;
    DurNs recorder = of_path ? facts.get<WhatIf>().recorded_step - facts.get<WhatIf>().baseline.step.central
                             : (shares.idle_of(IdleCause::profiler) + shares.host_idle_doubtful) / pieces;
    verdict.recorder = std::max<DurNs>(recorder, 0);
    for (const Explanation& each : found.all)
        if (double pct = found.pct(each.time); pct >= kMinAlternativePct)
            verdict.parts.push_back({each.limit, each.time / pieces, pct});
    if (double pct = shares.pct(recorder * pieces); !of_path && pct >= kMinAlternativePct)
        verdict.alternatives.push_back(
            {std::string(name_of(Limit::profiler)), pct, std::nullopt,
             fmt::format("{} of idle time may be profiler overhead", readable_duration(recorder * pieces))});
}

// The cause of idle time behind a limit of the host; absent for others.
std::optional<IdleCause> idle_cause_of(Limit limit) {
    switch (limit) {
        case Limit::input: return IdleCause::input_pipeline;
        case Limit::launch: return IdleCause::launch;
        case Limit::synchronisation: return IdleCause::synchronisation;
        case Limit::allocation: return IdleCause::allocation;
        case Limit::host: return IdleCause::host_compute;
        default: return std::nullopt;
    }
}

// Of two limits of the host that take nearly the same part of the path, the one for which the device waits: it explains most idle time,
// and several times that of the other. Returns what the idle time says; "" if it says nothing.
std::string decide_by_idle_time(const Facts& facts, Explanations& found) {
    const Shares& shares = facts.get<Shares>();
    auto idle = [&](const Explanation& each) -> DurNs {
        std::optional<IdleCause> cause = idle_cause_of(each.limit);
        return cause ? shares.idle_of(*cause) : -1;
    };
    DurNs all = 0;
    for (DurNs each : shares.idle) all += each;
    DurNs first = idle(found.all[0]), second = idle(found.all[1]), most = std::max(first, second);
    if (first < 0 || second < 0 || 2 * most < all || most < kTellingIdle * std::min(first, second)) return "";
    if (second > first) std::swap(found.all[0], found.all[1]);
    return fmt::format("; {} takes about as long ({} %), mostly while the GPU is busy: {} % of its idle time is {}",
                       spoken_of(found.all[1].limit), readable_percent(found.pct(found.all[1].time)),
                       readable_percent(100 * static_cast<double>(most) / static_cast<double>(all)),
                       name_of(*idle_cause_of(found.all[0].limit)));
}

Verdict judge(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    if (const std::string& why = facts.get<Sufficiency>().insufficient_because; !why.empty()) {
        Verdict without = cannot_tell(why);
        // Calls of CUDA without device work are more likely work that was lost.
        if (shares.busy == 0 && facts.trace().api_call().rows == 0 && damage_of(facts.trace()).empty())
            without.name = "no GPU work";
        return without;
    }
    Verdict verdict;
    verdict.share_of = facts.get<Replayed>().holds ? ShareOf::critical_path : ShareOf::window;
    bool of_path = verdict.share_of == ShareOf::critical_path;
    Explanations found = order_by_lower_bound(of_path ? explain_path(facts, Estimate::central) : explain_window(facts));
    if (!of_path) explain_pauses(facts, found);
    // Idle time that tells two limits apart is looked at only where the path does not.
    bool close = static_cast<double>(found.all[1].time) > kMixed * static_cast<double>(found.all[0].time);
    const std::string told = of_path && close ? decide_by_idle_time(facts, found) : "";
    const Explanation &first = found.all[0], &second = found.all[1];
    // A device that looks idle while it has work to do says nothing about the host.
    DurNs unrecorded = shares.idle_of(IdleCause::unrecorded_work);
    bool of_host = first.limit == Limit::launch || first.limit == Limit::host || first.limit == Limit::synchronisation;
    if (of_host && shares.effective_pct(unrecorded) >= kMinVerdictPct)
        return cannot_tell(unrecorded_because(unrecorded));
    double effective = found.effective_pct(first.time);
    bool busy_with_both = first.limit == Limit::compute && second.limit == Limit::memory_bandwidth;
    bool mixed = (!busy_with_both && told.empty() &&
                  static_cast<double>(second.time) > kMixed * static_cast<double>(first.time)) ||
                 effective < kMinVerdictPct;
    mixed = mixed && (first.limit != Limit::paced || effective < kMinPacedPct);
    if (mixed) {
        verdict.conclude(Limit::mixed);
        verdict.because = fmt::format("no single cause stands out: {} ({} %), {} ({} %)", spoken_of(first.limit),
                                      readable_percent(found.pct(first.time)), spoken_of(second.limit),
                                      readable_percent(found.pct(second.time)));
    } else {
        verdict.conclude(first.limit);
        verdict.because = first.because + told;
        verdict.share_pct = found.pct(first.time);
        if (first.gives_back) verdict.gives_back_pct = found.pct(*first.gives_back);
        std::optional<double> rate = first.limit == Limit::compute ? nearness(facts) : std::nullopt;
        if (rate)
            verdict.because +=
                fmt::format("; operators with recorded shapes reach {:.0f} % of the GPU's peak FLOP/s{} (`arithmetic`)",
                            *rate, part_of_tensor_peak(facts) < 1 ? " with tensor cores" : "");
        if (busy_with_both && static_cast<double>(second.time) > kMixed * static_cast<double>(first.time))
            verdict.because += fmt::format("; data-moving kernels run {} ({} %) and could partly be fused away",
                                           second.time > first.time ? "even longer" : "about as long",
                                           readable_percent(found.pct(second.time)));
        if (rate.value_or(0) >= kMinHealthyRatePct && effective >= kMinHealthyPct) verdict.conclude(Limit::healthy);
        verdict.because += praise(facts, shares);
    }
    verdict.because += spent_between_steps(facts) + spoken_phase(facts);
    if (verdict.limit == Limit::unknown)
        verdict.because += what_is_known(facts);
    else {
        Limit other = of_path ? other_limit(facts, first.limit) : first.limit;
        if (other != first.limit)
            verdict.because += fmt::format(
                "; {} with another estimate of what recording costs, so a recording with less overhead would tell",
                shown_name_of(other));
        verdict.basis = basis_of(facts, first.limit);
        verdict.confidence = confidence_of(facts, verdict, first, second, other != first.limit);
    }
    for (std::size_t i = mixed ? 2 : 1; i < found.all.size(); ++i)
        if (found.pct(found.all[i].time) >= kMinAlternativePct)
            verdict.alternatives.push_back(candidate(found.all[i], found));
    divide(facts, found, verdict);
    return verdict;
}

constexpr double kHighSeverityPct = 20, kMediumSeverityPct = 5;  // percent of a step, or of the window

void rate(const Facts& facts, Finding& finding) {
    finding.devices = std::max<std::size_t>(facts.get<Shares>().devices, 1);
    finding.share_pct = finding.predicted ? finding.predicted->gain_pct : share_of_whole(facts, finding.cost_ns);
    finding.severity = finding.share_pct >= kMediumSeverityPct ? Rating::medium : Rating::low;
    if (finding.share_pct >= kHighSeverityPct) finding.severity = Rating::high;
}

// The cost of a finding as it competes with others: part of it where the remedy asks more of the program.
double weighted_cost(const Finding& finding) {
    return weight_of(finding.effort) * static_cast<double>(finding.cost_ns);
}

void consult(const Facts& facts, Diagnosis& diagnosis) {
    const Shares& shares = facts.get<Shares>();
    const std::string& insufficient_because = facts.get<Sufficiency>().idle_unreliable_because;
    bool incomplete = work_missing(facts.trace());
    const PhaseTotals* phase = main_phase(facts);
    bool decodes = phase != nullptr && (phase->phase == ServingPhase::decode || phase->phase == ServingPhase::verify);
    std::vector<std::pair<std::string, std::string>> reasons;  // the rules that abstain for each
    std::vector<Ruling> rulings(std::size(kAllRules));
    std::vector<std::function<void()>> looks;
    for (const Rule* rule : kAllRules) {
        Ruling& ruling = rulings[looks.size()];
        looks.push_back([&, rule] {
            if (shares.busy == 0 && rule->needs_work) return;
            ruling = !insufficient_because.empty() && rule->of_idle_time ? Ruling::abstain(insufficient_because)
                                                                         : rule->look(facts);
        });
    }
    run_together(facts.trace().kernel().rows, looks);
    for (std::size_t i = 0; i < rulings.size(); ++i) {
        const Rule* rule = kAllRules[i];
        Ruling& ruling = rulings[i];
        if (!ruling.cannot_tell.empty()) {
            auto same = std::find_if(reasons.begin(), reasons.end(),
                                     [&](auto& each) { return each.second == ruling.cannot_tell; });
            if (same == reasons.end())
                reasons.emplace_back(rule->id, ruling.cannot_tell);
            else
                same->first += fmt::format(", {}", rule->id);
        }
        if (ruling.finding && facts.get<Context>().server) {
            if (std::optional<std::string_view> remedy = server_remedy(rule->id, decodes); remedy && remedy->empty())
                ruling.finding.reset();
            else if (remedy)
                ruling.finding->remedy = ruling.finding->place.empty()
                                             ? std::string(*remedy)
                                             : fmt::format("{} Where: {}.", *remedy, ruling.finding->place);
        }
        if (!ruling.finding) continue;
        Finding& finding = diagnosis.findings.emplace_back(std::move(*ruling.finding));
        finding.id = rule->id;
        // Kernels take more time than a change can save, unlike idle time, so that even an option competes as an edit.
        finding.effort = rule->of_idle_time ? rule->effort : std::max(rule->effort, Effort::edit);
        if (finding.predicted) finding.effort = finding.predicted->effort;
        rate(facts, finding);
        if (incomplete) finding.confidence = Rating::low;
    }
    for (const auto& [rules, reason] : reasons)
        diagnosis.abstentions.push_back(fmt::format("{}: cannot tell; {}.", rules, reason));
    std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(),
                     [](const Finding& a, const Finding& b) { return weighted_cost(a) > weighted_cost(b); });
    // What the other findings and a verdict count is not the recorder's doing, so that they hold whatever it took.
    if (diagnosis.verdict.limit != Limit::unknown)
        std::stable_partition(diagnosis.findings.begin(), diagnosis.findings.end(),
                              [](const Finding& each) { return each.id != kProfilerCost.id; });
}

}  // namespace

Diagnosis Diagnosis::make(const Facts& facts) {
    // Finding gaps starts with host activity, which takes as long as the facts about kernels and does not depend on
    // them, so the two run in parallel.
    // On this thread if the system refuses another.
    std::future<void> kernels = std::async(std::launch::async | std::launch::deferred, [&] {
        facts.get<Activity>();
        facts.get<KernelGroups>();
        facts.get<LaunchOccupancy>();
    });
    facts.get<IdleGaps>();
    kernels.get();
    Diagnosis diagnosis;
    diagnosis.verdict = judge(facts);
    consult(facts, diagnosis);
    return diagnosis;
}

// `findings`: what to change, in the order of cost and effort, each with its cost, evidence, remedy, confidence, and what would
// change it. Rules that abstain give their reasons in the notes of the table.
namespace {

constexpr ResultColumn kFindingsColumns[] = {
    {"id", CellType::text, Unit::none, "Name of the rule."},
    {"severity", CellType::text, Unit::none, "high from a share_pct of 20 %, medium from 5 %, else low."},
    {"cost_ns", CellType::integer, Unit::ns, "Estimated device time that acting on it recovers, over all devices."},
    {"share_pct", CellType::real, Unit::percent,
     "Predicted gain; without a prediction, cost_ns. Of a step without the recorder's cost where the recording can be "
     "replayed, else of the window."},
    {"title", CellType::text, Unit::none, "The finding in one sentence."},
    {"evidence", CellType::text, Unit::none, "Facts with handles of rows, separated by semicolons."},
    {"remedy", CellType::text, Unit::none, "What to do."},
    {"confidence", CellType::text, Unit::none, "high, medium or low."},
    {"would_change_if", CellType::text, Unit::none, "What would refute the finding."},
    {"basis", CellType::text, Unit::none,
     "What it is based on: counters, operator shapes, launch shapes, the timeline or kernel names."},
};

Result<ResultTable> findings_table(const Facts& facts) {
    ResultTable table("findings", kFindingsColumns);
    table.handle_prefix = "f";
    for (const Finding& finding : facts.get<Diagnosis>().findings)
        table.add_row({std::string_view(finding.id), name_of(finding.severity), integer(finding.cost_ns),
                       real(finding.share_pct), std::string_view(finding.title),
                       std::string_view(joined(finding.evidence)), std::string_view(finding.remedy),
                       name_of(finding.confidence), std::string_view(finding.would_change_if), name_of(finding.basis)});
    table.notes = facts.get<Diagnosis>().abstentions;
    return table;
}

}  // namespace

const Analysis kFindings{"findings",
                         "",
                         "What to change, with cost, evidence and remedy.",
                         kFindingsColumns,
                         findings_table,
                         {.about_idle = true, .reads = {AnalysisOption::gap_min_ns, AnalysisOption::input_range}}};

}  // namespace gpuprof::answer
