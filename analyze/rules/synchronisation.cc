// The host waits for the device, and then the device waits for the host.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/idle/gaps.h"
#include "analyze/facts/idle/waits.h"
#include "analyze/facts/name_groups.h"
#include "analyze/facts/shares.h"
#include "analyze/replay/gain.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/python_frame.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

// Most loops end a step with one wait. From this many on, users want to know, whatever they cost.
constexpr double kMinWaitsPerStep = 3;
constexpr std::size_t kSites = 3;

std::string where(const Facts& facts, const WaitSite& site) {
    const Trace& trace = facts.trace();
    std::string text =
        fmt::format("{} ({}): {} calls, {} in total", trace.text(site.call), facts.get<CallNames>().handle(site.call),
                    spoken_count(site.count), readable_duration(site.blocked_ns));
    if (site.inside != kNoString) text += fmt::format(", called by {}", trace.text(site.inside));
    if (site.line != kNoString) text += fmt::format(" at {}", trace.text(site.line));
    return text;
}

// "aten::item, train (train.py:31)".
std::string place_of_site(const Trace& trace, const WaitSite& site) {
    std::string text(trace.text(site.inside));
    if (site.line == kNoString) return text;
    return fmt::format("{}{}{}", text, text.empty() ? "" : ", ", to_text(parse_python_call(trace.text(site.line))));
}

DurNs drained_ns(const Facts& facts) {
    DurNs sum = 0;
    for (const DeviceIdle& device : facts.get<IdleGaps>().devices)
        for (DurNs part : device.drained) sum += part;
    return sum;
}

std::string remedy_for_synchronisation(const Context& context, const Waits& waits) {
    std::string text;
    if (2 * waits.pageable_ns > waits.blocked_ns)
        text = context.pytorch() ? "Use pinned memory (pin_memory=True) and non_blocking=True; copies of pageable "
                                   "memory block the host. "
                                 : "Use pinned memory (cudaHostAlloc, cudaHostRegister); even asynchronous copies of "
                                   "pageable memory block the host. ";
    if (context.pytorch())
        return text +
               "Do not wait for the GPU in every step: remove .item(), .cpu() and prints of GPU values from the loop, "
               "log every N steps, and wait for events instead of the whole device.";
    if (context.framework == Framework::jax)
        return text +
               "Do not wait for the GPU in every step: remove block_until_ready, float() and prints of GPU values from "
               "the loop; keep metrics on the GPU and fetch them every N steps.";
    if (context.directives)
        return text +
               "Do not wait after every region: use async clauses with one wait at the end, and data regions around "
               "the loop.";
    return text +
           "Do not wait for the GPU in every step: let work queue up, wait for events instead of the whole device, and "
           "read results back once.";
}

Ruling look_for_synchronisation(const Facts& facts) {
    if (facts.trace().api_call().rows == 0)
        return Ruling::abstain("CUDA calls were not recorded; record them (gpu-profile record, or CPU activities)");
    const Waits& waits = facts.get<Waits>();
    const Shares& shares = facts.get<Shares>();
    Finding finding;
    const Gain& gain = gain_without(facts, Waste::waits);
    bool costs = gain.pct >= kMinFindingPct;
    if (waits.count == 0 || (!costs && waits.per_step < kMinWaitsPerStep)) return Ruling::silent();
    std::string per_step = waits.per_step > 0 ? fmt::format("{:.1f} times per step", waits.per_step)
                                              : fmt::format("{} times", spoken_count(waits.count));
    if (!costs)
        finding.title = fmt::format("The host waits for the GPU {}", per_step);
    else if (gain.predicted)
        finding.title = fmt::format("Waiting for the GPU costs {} % of a step", readable_percent(gain.pct));
    else
        finding.title = fmt::format("Waiting for the GPU leaves it idle {}", share_text(facts, gain.ns));
    set_cost(finding, gain);
    const DurNs drained = drained_ns(facts);
    finding.evidence.push_back(fmt::format(
        "the host waits {}, {} in total; {}", per_step, readable_duration(waits.blocked_ns),
        drained > 0
            ? fmt::format("the GPU runs out of work during such a wait and is idle for {}", readable_duration(drained))
            : "the GPU never runs out of work during such a wait"));
    const std::vector<WaitSite>& sites = facts.get<WaitSites>().sites;
    for (std::size_t i = 0; i < std::min(kSites, sites.size()); ++i) finding.evidence.push_back(where(facts, sites[i]));
    if (!sites.empty()) finding.place = place_of_site(facts.trace(), sites.front());
    if (shares.idle_of(IdleCause::synchronisation) > 0)
        finding.evidence.push_back(idle_line(facts, IdleCause::synchronisation));
    push_gap_lines(facts, IdleCause::synchronisation, finding);
    finding.remedy = remedy_for_synchronisation(facts.get<Context>(), waits);
    finding.confidence = costs ? Rating::high : Rating::medium;
    finding.basis = Basis::timeline;
    finding.would_change_if = "these calls are the program's final wait for its results";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kSynchronisation{"synchronisation", "The host waits for the GPU, and then the GPU waits for the host.",
                            look_for_synchronisation, Effort::edit, true};

}  // namespace gpuprof::rules
