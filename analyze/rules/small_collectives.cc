// Collectives of few bytes, one after the other: each takes as long as one of all their bytes.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/host/code_places.h"
#include "analyze/facts/host/collective_patterns.h"
#include "analyze/facts/shares.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

Ruling look_for_small_collectives(const Facts& facts) {
    const CollectivePatterns& patterns = facts.get<CollectivePatterns>();
    const CollectivePatterns::Small& small = patterns.small;
    if (!too_many_small(facts, small))
        return Ruling::abstain(
            too_many_small(facts, patterns.unsized)
                ? fmt::format("{} short collectives follow one another, and their sizes were not recorded",
                              spoken_count(patterns.unsized.count))
                : "");
    Finding finding;
    finding.cost_ns = small.saved;
    finding.title = fmt::format("Many small collectives in a row take {} more than one of all their bytes",
                                share_text(facts, small.saved));
    finding.evidence.push_back(
        fmt::format("{} collectives of up to {}, {} in a row on average, run for {} while no other kernel runs",
                    spoken_count(small.count), readable_bytes(static_cast<double>(small.largest)),
                    spoken_count(small.count / small.runs), readable_duration(small.exposed)));
    if (std::string line = collective_line(facts, small.example); !line.empty()) finding.evidence.push_back(line);
    finding.place = facts.get<CodePlaces>().of_kernel(facts, small.example);
    push_kernel_lines(
        facts,
        [](const KernelGroup& group) { return group.traits.kind == KernelClass::collective ? group.total_ns : 0; },
        finding);
    finding.remedy =
        facts.get<Context>().pytorch()
            ? "Send them together: DistributedDataParallel with its buckets (bucket_cap_mb) instead of one all_reduce "
              "per gradient, torch.distributed.all_reduce_coalesced or _coalescing_manager, or one flat tensor."
            : "Send them together: copy them into one buffer and reduce that, or put the calls between ncclGroupStart "
              "and ncclGroupEnd.";
    finding.confidence = Rating::high;
    finding.basis = Basis::timeline;
    finding.would_change_if = "each needs the result of the one before";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kSmallCollectives{"small-collectives",
                             "Many collectives of few bytes in a row, each of which costs a latency.",
                             look_for_small_collectives, Effort::edit, true};

}  // namespace gpuprof::rules
