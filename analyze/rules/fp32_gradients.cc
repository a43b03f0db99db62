// Gradients that are reduced in FP32 although the products are in 16 bits: twice the bytes.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/host/code_places.h"
#include "analyze/facts/host/collective_patterns.h"
#include "analyze/facts/practices.h"
#include "analyze/facts/shares.h"
#include "analyze/replay/gain.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

// Half of all transfers, if nearly all are these.
std::optional<Prediction> halved_transfers(const Facts& facts) {
    const CollectivePatterns& patterns = facts.get<CollectivePatterns>();
    if (!facts.get<Replayed>().holds || 10 * patterns.full_precision.exposed < 9 * patterns.exposed_transfers)
        return {};
    Edit edit = usual_edit(Change::communication);
    edit.factor = kBytesIn16Bits;
    std::optional<Prediction> halved = predict(facts, {edit});
    return halved && halved->gain_low > 0 ? halved : std::nullopt;
}

Ruling look_for_fp32_gradients(const Facts& facts) {
    const CollectivePatterns::Gradients& found = facts.get<CollectivePatterns>().full_precision;
    Finding finding;
    finding.cost_ns = fp32_gradients_cost(facts);
    if (finding.cost_ns == 0) return Ruling::silent();
    finding.title = fmt::format("Gradients travel in FP32: in 16 bits, {} less", share_text(facts, finding.cost_ns));
    if (std::optional<Prediction> halved = halved_transfers(facts)) {
        Gain gain{.predicted = halved, .ns = finding.cost_ns, .pct = 100 * halved->gain};
        finding.title =
            fmt::format("Gradients travel in FP32: in 16 bits, {} % of a step less", readable_percent(gain.pct));
        set_cost(finding, gain);
    }
    finding.evidence.push_back(fmt::format(
        "{} reductions in FP32 run for {} while no other kernel runs, and most matrix products are in 16 bits",
        spoken_count(found.count), readable_duration(found.exposed)));
    if (std::string line = collective_line(facts, found.longest); !line.empty()) finding.evidence.push_back(line);
    finding.place = facts.get<CodePlaces>().of_kernel(facts, found.longest);
    finding.remedy =
        facts.get<Context>().pytorch()
            ? "Reduce gradients in 16 bits: FSDP with MixedPrecision(reduce_dtype=torch.bfloat16), or DDP with "
              "register_comm_hook(None, default_hooks.bf16_compress_hook). Overlap what is left with the backward pass."
            : "Reduce gradients in bf16, and add them up in FP32 afterwards. Overlap what is left with the backward "
              "pass.";
    finding.confidence = Rating::medium;
    finding.basis = Basis::timeline;
    finding.would_change_if = "accuracy needs sums in FP32, as for many ranks or small gradients";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kFp32Gradients{"fp32-gradients", "Gradients that are reduced in FP32 although the products are in 16 bits.",
                          look_for_fp32_gradients, Effort::edit, true};

}  // namespace gpuprof::rules
