// The host waits for the device, and the device then waits for the host.
#include <fmt/format.h>

#include "core/analyze/facts/call_names.h"
#include "core/analyze/facts/context.h"
#include "core/analyze/facts/gain.h"
#include "core/analyze/facts/gaps.h"
#include "core/analyze/facts/shares.h"
#include "core/analyze/facts/waits.h"
#include "core/analyze/rules/evidence.h"
#include "core/analyze/rules/rule_list.h"
#include "core/base/readable.h"

namespace gpuprof {
namespace {

// One wait in a step is how most loops end theirs; from here on somebody wants to know, whatever it costs.
constexpr double kManyPerStep = 3;
constexpr std::size_t kSites = 3;

std::string where(const Facts& facts, const WaitSite& site) {
    const Trace& trace = facts.trace();
    std::string text =
        fmt::format("{} ({}) x {}, {} inside", trace.text(site.call), facts.get<CallNames>().handle(site.call),
                    spoken_count(site.count), readable_duration(site.blocked_ns));
    if (site.inside != kNoString) text += fmt::format(", called by {}", trace.text(site.inside));
    if (site.line != kNoString) text += fmt::format(" at {}", trace.text(site.line));
    return text;
}

DurNs drained_ns(const Facts& facts) {
    DurNs sum = 0;
    for (const DeviceIdle& device : facts.get<IdleGaps>().devices)
        for (DurNs part : device.drained) sum += part;
    return sum;
}

std::string remedy(const Context& context, const Waits& waits) {
    std::string text;
    if (2 * waits.pageable_ns > waits.blocked_ns)
        text = context.pytorch() ? "Copy from and to pinned memory (pin_memory=True) with non_blocking=True; a copy of "
                                   "pageable memory waits. "
                                 : "Copy from and to pinned memory (cudaHostAlloc, cudaHostRegister); an asynchronous "
                                   "copy of pageable memory waits. ";
    if (context.pytorch())
        return text +
               "Do not wait for the GPU in every step: no .item(), .cpu() or print of device values in the loop, "
               "log every N steps, wait on events instead of the whole device.";
    if (context.framework == Framework::jax)
        return text +
               "Do not wait for the GPU in every step: no block_until_ready, float() or print of device values in "
               "the loop; keep metrics on the device and fetch them every N steps.";
    if (context.directives)
        return text +
               "Do not wait after every region: async clauses with one wait at the end, data regions around the "
               "loop.";
    return text +
           "Do not wait for the GPU in every step: let work queue up, wait on events instead of the whole device, "
           "read results back once.";
}

Ruling look(const Facts& facts) {
    if (facts.trace().api_call().rows == 0)
        return Ruling::abstain("CUDA calls were not recorded; record them (gpu-profile record, or CPU activities)");
    const Waits& waits = facts.get<Waits>();
    const Shares& shares = facts.get<Shares>();
    Finding finding;
    finding.cost_ns = gain_without_waits(facts);
    bool costs = shares.effective_pct(finding.cost_ns) >= kWorthSaying;
    if (waits.count == 0 || (!costs && waits.per_step < kManyPerStep)) return Ruling::silent();
    std::string per_step = waits.per_step > 0 ? fmt::format("{:.1f} times a step", waits.per_step)
                                              : fmt::format("{} times", spoken_count(waits.count));
    finding.title = costs ? fmt::format("Waiting for the GPU leaves it idle {} % of the time",
                                        readable_percent(shares.pct(finding.cost_ns)))
                          : fmt::format("The host waits for the GPU {}", per_step);
    finding.evidence.push_back(
        fmt::format("the host waits {}, {} in all; the device is idle for {} after its work ran "
                    "out during such a wait",
                    per_step, readable_duration(waits.blocked_ns), readable_duration(drained_ns(facts))));
    for (std::size_t i = 0; i < std::min(kSites, waits.sites.size()); ++i)
        finding.evidence.push_back(where(facts, waits.sites[i]));
    if (shares.idle_of(IdleCause::synchronisation) > 0)
        finding.evidence.push_back(idle_line(facts, IdleCause::synchronisation));
    push_gap_lines(facts, IdleCause::synchronisation, finding.evidence);
    finding.remedy = remedy(facts.get<Context>(), waits);
    finding.confidence = costs ? Weight::high : Weight::medium;
    finding.basis = Basis::timeline;
    finding.would_change_if = "the calls were the program's last wait for its results";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kSynchronisation{"synchronisation", "The host waits for the device and the device then waits for the host.",
                            look, true};

}  // namespace gpuprof
