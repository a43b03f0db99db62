// Gathers and scatters that add row by row: embedding gradients, index_add, scatter_add.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/shares.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/ascii.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

std::string remedy_for_scattered_updates(const Facts& facts, bool batched) {
    if (!facts.get<Context>().pytorch())
        return "Sort or merge equal indices before adding, so that each row is written once, and reduce within a block "
               "before "
               "adding to memory.";
    return fmt::format(
        "Add each row once: merge equal indices before the lookup (unique with return_inverse){}, or use sparse "
        "gradients "
        "with an optimizer that updates only the rows in use.",
        batched ? "" : ", combine the lookups of several tables (EmbeddingBag, FBGEMM's table-batched embeddings)");
}

Ruling look_for_scattered_updates(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    bool batched = false;  // FBGEMM's tables are in use
    KernelPart part = [&](const KernelGroup& group) {
        DurNs time = row_additions(facts, group);
        batched = batched || (time > 0 && contains(facts.trace().text(group.name), "split_embedding"));
        return time;
    };
    Finding finding;
    finding.cost_ns = busy_with(facts, part);
    if (shares.effective_pct(finding.cost_ns) < kMinPatternPct) return Ruling::abstain(names_are_uninformative(facts));
    finding.title = fmt::format("Adding to rows of tables takes {}", share_text(facts, finding.cost_ns));
    push_kernel_lines(facts, part, finding);
    finding.remedy = remedy_for_scattered_updates(facts, batched);
    finding.confidence = Rating::medium;
    finding.basis = Basis::names;
    finding.would_change_if = "few indices occur more than once";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kScatteredUpdates{"scattered-updates",
                             "Gradients of embeddings and other additions to rows that indices choose.",
                             look_for_scattered_updates, Effort::edit};

}  // namespace gpuprof::rules
