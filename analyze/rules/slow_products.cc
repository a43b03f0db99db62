// Matrix products on tensor cores by kernels that the operands or the library hold back: rows that begin at addresses
// the fast kernels cannot load from, or code for a GPU older than this one.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/facts/context.h"
#include "analyze/facts/kernels/op_rates.h"
#include "analyze/facts/shares.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

constexpr double kMinSlowProductsPct = 5;  // percent of the effective window

struct SlowProducts {
    DurNs misaligned = 0, old = 0;
    int alignment = 16, architecture = 0;  // the worst alignment; the architecture that takes longest
};

SlowProducts slow_products_of(const Facts& facts) {
    SlowProducts found;
    DurNs longest = 0;
    for (const KernelGroup& group : facts.get<KernelGroups>().groups) {
        bool odd = is_misaligned(group.traits), old = is_outdated(group.traits, facts.get<Context>().capability);
        if (odd)
            found.misaligned += group.total_ns, found.alignment = std::min(found.alignment, group.traits.alignment);
        if (old) found.old += group.total_ns;
        if ((odd || old) && group.total_ns > longest)
            longest = group.total_ns, found.architecture = group.traits.architecture;
    }
    return found;
}

// The product whose kernels take longest: "aten::bmm [[24, 1350, 1350], [24, 1350, 72]]".
std::string product_line(const Facts& facts) {
    const OpRates& rates = facts.get<OpRates>();
    const KernelTable& kernels = facts.trace().kernel();
    std::vector<bool> odd(facts.trace().strings().size());
    for (const KernelGroup& group : facts.get<KernelGroups>().groups)
        if (group.name != kNoString && is_misaligned(group.traits)) odd[index_of(group.name)] = true;
    std::uint32_t first = kNoRow;  // rates are by device time, longest first
    for (Row row = 0; row < rates.rate_of_kernel.size(); ++row)
        if (kernels.name.has(row) && odd[index_of(kernels.name[row])])
            first = std::min(first, rates.rate_of_kernel[row]);
    if (first == kNoRow) return "";
    const OpRate& rate = rates.rates[first];
    return fmt::format("{} {}", facts.trace().text(rate.name), facts.trace().text(rate.dims));
}

Ruling look_for_slow_products(const Facts& facts) {
    const Context& context = facts.get<Context>();
    const Shares& shares = facts.get<Shares>();
    KernelPart part = [&](const KernelGroup& group) {
        return is_misaligned(group.traits) || is_outdated(group.traits, context.capability) ? group.total_ns : 0;
    };
    Finding finding;
    finding.cost_ns = busy_with(facts, part);
    if (shares.effective_pct(finding.cost_ns) < kMinSlowProductsPct)
        return Ruling::abstain(names_are_uninformative(facts));
    SlowProducts slow = slow_products_of(facts);
    bool odd = 2 * slow.misaligned >= slow.old;
    std::string which =
        odd ? fmt::format("with rows aligned to {} element{}", slow.alignment, slow.alignment == 1 ? "" : "s")
            : fmt::format("written for compute capability {}.{}", slow.architecture / 10, slow.architecture % 10);
    finding.title = fmt::format("Matrix products by kernels {} take {}", which, share_text(facts, finding.cost_ns));
    if (const Gain& gain = gain_without(facts, Waste::slow_products); gain.predicted) {
        finding.title =
            fmt::format("Matrix products by kernels {} cost {} % of a step", which, readable_percent(gain.pct));
        set_cost(finding, gain);
    }
    if (std::string line = product_line(facts); !line.empty()) finding.evidence.push_back(line);
    push_kernel_lines(facts, part, finding);
    if (odd && slow.old > 0)
        finding.evidence.push_back(fmt::format(
            "these kernels are for compute capability {}.{}; the GPU has {}.{}, whose own kernels need rows "
            "of whole 16 bytes",
            slow.architecture / 10, slow.architecture % 10, context.capability / 10, context.capability % 10));
    finding.remedy = odd ? "Pad the inner sizes of these products to a multiple of 16 bytes (8 elements in bf16 or "
                           "fp16, 4 in TF32): "
                           "head size, sequence length, vocabulary or features, and the strides of views."
                         : "Use a newer CUDA toolkit and cuBLAS or CUTLASS, built for this GPU; the kernels in use "
                           "lack its tensor-core "
                           "instructions.";
    finding.confidence = odd ? Rating::high : Rating::medium;
    finding.basis = Basis::names;
    finding.would_change_if = odd ? "other kernels for these products turn out no faster with padded sizes"
                                  : "the library has no newer kernel for these shapes";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kSlowProducts{"slow-products",
                         "Matrix products on tensor cores by kernels for misaligned rows, or for a much older GPU.",
                         look_for_slow_products, Effort::edit};

}  // namespace gpuprof::rules
