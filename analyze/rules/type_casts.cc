// Casts between number formats that take time of their own, above all of weights in every step under autocast.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/kernels/op_rates.h"
#include "analyze/facts/practices.h"
#include "analyze/facts/shares.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/ascii.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

constexpr double kMinTypeCastsPct = 5;  // percent of the effective window

// PyTorch's copies of one type to another; those that only copy have no cast in their names.
bool casts(std::string_view name) {
    if (contains_any(name, {"bfloat16_copy_kernel", "float16_copy_kernel", "float8_copy_kernel"})) return true;
    return contains(name, "direct_copy_kernel") && contains_any(name, {"LoadWithCast", "StoreWithCast"});
}

// The cast that takes longest among those whose shapes are recorded: "aten::copy_ [[4096, 1024], [4096, 1024], []]".
std::string cast_line(const Facts& facts) {
    for (const OpRate& rate : facts.get<OpRates>().rates)
        if (facts.trace().text(rate.name) == "aten::copy_")
            return fmt::format("{} {} {}, {} times", facts.trace().text(rate.name), facts.trace().text(rate.dims),
                               facts.trace().text(rate.types), spoken_count(rate.count));
    return "";
}

Ruling look_for_type_casts(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    KernelPart part = [&](const KernelGroup& group) {
        return group.traits.kind == KernelClass::copy_cast && casts(facts.trace().text(group.name)) ? group.total_ns
                                                                                                    : 0;
    };
    Finding finding;
    finding.cost_ns = busy_with(facts, part);
    if (shares.effective_pct(finding.cost_ns) < kMinTypeCastsPct) return Ruling::silent();
    finding.title = fmt::format("Casts between number formats take {} % of the time",
                                readable_percent(shares.pct(finding.cost_ns)));
    if (std::string line = cast_line(facts); !line.empty()) finding.evidence.push_back(line);
    push_kernel_lines(facts, part, finding.evidence);
    finding.remedy =
        facts.get<Practices>().compiled
            ? "Keep tensors in one format from end to end, and cast weights once, not in every step."
            : "Cast weights once, not in every step: keep the model in bf16 (FP32 copies only in the optimizer), or "
              "open one autocast region around the whole step, whose cache casts each weight once; "
              "torch.compile fuses the other casts into their neighbours.";
    finding.confidence = Rating::medium;
    finding.basis = Basis::names;
    finding.would_change_if = "the casts are part of what is computed, such as a softmax in FP32 that accuracy needs";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kTypeCasts{"type-casts", "Copies that change the number format, such as casts of weights in every step.",
                      look_for_type_casts};

}  // namespace gpuprof::rules
