// A server of language models whose host chooses the next tokens.
#include <fmt/format.h>

#include "analyze/facts/steps/iterations.h"
#include "analyze/replay/gain.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

Ruling look_for_host_sampling(const Facts& facts) {
    const EngineStretches& engines = facts.get<EngineStretches>();
    const Gain& gain = gain_without(facts, Waste::host_sampling);
    if (engines.sampled_steps == 0 || gain.pct < kMinFindingPct) return Ruling::silent();
    Finding finding;
    set_cost(finding, gain);
    finding.title = gain.predicted
                        ? fmt::format("Sampling on the host costs {} % of a step", readable_percent(gain.pct))
                        : fmt::format("The GPU waits for sampling on the host {}", share_text(facts, gain.ns));
    auto steps = static_cast<DurNs>(engines.sampled_steps);
    finding.evidence.push_back(fmt::format(
        "in {}, logits ({} in the median) are copied to the host, which waits for them and then works for {} per step",
        readable_count(engines.sampled_steps, "step"), readable_bytes(static_cast<double>(engines.logits_bytes)),
        readable_duration(engines.host_sampling / steps)));
    finding.remedy =
        "Sample on the GPU: run penalties, biases and grammars there (for grammars: bit masks that "
        "are copied to the GPU), and copy only the chosen ids to the host.";
    finding.confidence = Rating::medium;
    finding.basis = Basis::timeline;
    finding.would_change_if = "the copies are not logits, or a client asked for them";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kHostSampling{"host-sampling", "A server copies logits to the host and chooses the next tokens there.",
                         look_for_host_sampling, Effort::edit, true};

}  // namespace gpuprof::rules
