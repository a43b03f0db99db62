// Device memory is allocated and freed in the steady state.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "analyze/facts/context.h"
#include "analyze/facts/host/code_places.h"
#include "analyze/facts/name_groups.h"
#include "analyze/facts/shares.h"
#include "analyze/facts/steps/steady_part.h"
#include "analyze/facts/steps/step_finder.h"
#include "analyze/knowledge/host_names.h"
#include "analyze/replay/gain.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

constexpr std::uint64_t kMinCalls = 4;  // fewer calls may be a coincidence
constexpr std::size_t kGrowingSteps = 3;
constexpr int kRounds =
    2;  // times that memory is allocated again after some was freed: a program that sets up only allocates

std::string remedy_for_allocation_churn(const Context& context, bool grows) {
    if (grows && context.pytorch())
        return "Find what keeps memory of earlier steps: results appended to a list with their graph (use .detach() or "
               ".item()), caches without "
               "a limit, graphs kept by retain_graph=True; gpu-profile record --memory says which code allocated what "
               "is held.";
    if (grows)
        return "Find what keeps memory of earlier steps (gpu-profile record --memory says which code allocated what is "
               "held), and reuse "
               "buffers instead of allocating new ones.";
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
    Row longest_call = kNoRow;
    DurNs most = -1;
    int rounds = 0;
    bool freed = false;
    std::set<std::size_t> steps;  // that allocate
    for (Row row = 0; row < calls.rows; ++row) {
        if (calls.start[row] < steady.start || calls.start[row] >= steady.end || !calls.name.has(row) ||
            kind_of_call(facts.trace().text(calls.name[row])) != CallKind::allocation)
            continue;
        bool freeing = call_frees(facts.trace().text(calls.name[row]));
        rounds += freed && !freeing;
        freed = freeing;
        spent += calls.dur[row];
        ++count;
        if (std::optional<std::size_t> step = step_at(facts.get<Steps>().steps, calls.start[row]); !freeing && step)
            steps.insert(*step);
        if (calls.dur[row] > most) {
            most = calls.dur[row];
            longest = calls.name[row];
            longest_call = row;
        }
    }
    Finding finding;
    set_cost(finding, gain);
    if (!gain.predicted) finding.cost_ns = std::min(spent, gain.ns);
    if ((!gain.predicted && shares.effective_pct(finding.cost_ns) < kMinFindingPct) || count < kMinCalls)
        return Ruling::silent();
    bool grows =
        rounds == 0 && !freed && steps.size() >= kGrowingSteps && 2 * steps.size() > facts.get<Steps>().steps.size();
    if (rounds < kRounds && !grows) return Ruling::silent();
    std::string_view what = grows ? "Allocating more memory in every step" : "Allocating and freeing memory";
    finding.title = gain.predicted ? fmt::format("{} costs {} % of a step", what, readable_percent(gain.pct))
                                   : fmt::format("{} takes {}", what, share_text(facts, finding.cost_ns));
    finding.evidence.push_back(
        fmt::format("{} calls in the steady state block the host for {}, for example {} ({}), which takes up to {}",
                    spoken_count(count), readable_duration(spent), facts.trace().text(longest),
                    facts.get<CallNames>().handle(longest), readable_duration(most)));
    if (grows)
        finding.evidence.push_back(fmt::format("{} of {} steps allocate, and nothing is freed", steps.size(),
                                               facts.get<Steps>().steps.size()));
    if (shares.idle_of(IdleCause::allocation) > 0) finding.evidence.push_back(idle_line(facts, IdleCause::allocation));
    finding.place = facts.get<CodePlaces>().of_call(facts, longest_call);
    finding.remedy = remedy_for_allocation_churn(facts.get<Context>(), grows);
    finding.confidence = Rating::high;
    finding.basis = Basis::timeline;
    finding.would_change_if = "the calls belong to start-up or shutdown";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kAllocationChurn{"allocation-churn", "Device memory is allocated and freed in the steady state.",
                            look_for_allocation_churn, Effort::edit};

}  // namespace gpuprof::rules
