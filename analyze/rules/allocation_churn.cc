// Device memory is allocated and freed in the steady state.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/name_groups.h"
#include "analyze/facts/shares.h"
#include "analyze/facts/steps/steady_part.h"
#include "analyze/knowledge/host_names.h"
#include "analyze/replay/gain.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

constexpr std::uint64_t kMinCalls = 4;  // fewer calls may be a coincidence
constexpr int kRounds =
    2;  // times that memory is allocated again after some was freed: a program that sets up only allocates

std::string remedy_for_allocation_churn(const Context& context) {
    if (context.pytorch())
        return "Let the caching allocator keep its memory: do not call torch.cuda.empty_cache() in the loop, keep "
               "shapes constant, and set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid retries caused by "
               "fragmentation.";
    if (context.framework == Framework::jax)
        return "Let XLA keep its memory: enable preallocation (XLA_PYTHON_CLIENT_PREALLOCATE), donate buffers, and "
               "keep shapes constant.";
    if (context.directives) return "Allocate once: use a data region around the loop instead of one in every step.";
    return "Allocate once and reuse: keep buffers for the whole loop, or use a pool (cudaMallocAsync); cudaFree also "
           "waits for the GPU.";
}

Ruling look_for_allocation_churn(const Facts& facts) {
    const ApiCallTable& calls = facts.trace().api_call();
    if (calls.rows == 0) return Ruling::abstain("CUDA calls were not recorded");
    const Shares& shares = facts.get<Shares>();
    const Gain& gain = gain_without(facts, Waste::allocation);
    if (gain.pct < kMinFindingPct) return Ruling::silent();
    // Setting up allocates legitimately: before the first kernels, and in first calls of each.
    Interval steady = facts.get<SteadyPart>().part;
    DurNs spent = 0;
    std::uint64_t count = 0;
    StringId longest = kNoString;
    DurNs most = -1;
    int rounds = 0;
    bool freed = false;
    for (Row row = 0; row < calls.rows; ++row) {
        if (calls.start[row] < steady.start || calls.start[row] >= steady.end || !calls.name.has(row) ||
            kind_of_call(facts.trace().text(calls.name[row])) != CallKind::allocation)
            continue;
        bool freeing = call_frees(facts.trace().text(calls.name[row]));
        rounds += freed && !freeing;
        freed = freeing;
        spent += calls.dur[row];
        ++count;
        if (calls.dur[row] > most) {
            most = calls.dur[row];
            longest = calls.name[row];
        }
    }
    Finding finding;
    set_cost(finding, gain);
    if (!gain.predicted) finding.cost_ns = std::min(spent, gain.ns);
    if ((!gain.predicted && shares.effective_pct(finding.cost_ns) < kMinFindingPct) || count < kMinCalls ||
        rounds < kRounds)
        return Ruling::silent();
    finding.title = fmt::format("{} allocations and frees in the steady state block the host for {}",
                                spoken_count(count), readable_duration(spent));
    finding.evidence.push_back(fmt::format("for example {} ({}), which takes up to {}", facts.trace().text(longest),
                                           facts.get<CallNames>().handle(longest), readable_duration(most)));
    if (shares.idle_of(IdleCause::allocation) > 0) finding.evidence.push_back(idle_line(facts, IdleCause::allocation));
    finding.remedy = remedy_for_allocation_churn(facts.get<Context>());
    finding.confidence = Rating::high;
    finding.basis = Basis::timeline;
    finding.would_change_if = "the calls belong to start-up or shutdown";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kAllocationChurn{"allocation-churn", "Device memory is allocated and freed in the steady state.",
                            look_for_allocation_churn};

}  // namespace gpuprof::rules
