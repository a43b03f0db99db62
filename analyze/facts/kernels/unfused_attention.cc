#include "analyze/facts/kernels/unfused_attention.h"

#include <map>

#include "analyze/facts/facts.h"
#include "analyze/facts/kernels/kernel_bound.h"
#include "analyze/facts/name_groups.h"
#include "core/base/text/ascii.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {
namespace {

// Scale, mask, cast and dropout around a softmax are four to seven kernels in the models of the transformers library.
constexpr std::size_t kMostPasses = 8;

enum class AttentionPart : std::uint8_t { other, product, pass, softmax };

AttentionPart attention_part(const KernelTraits& traits, std::string_view name) {
    switch (traits.kind) {
        case KernelClass::gemm:
        case KernelClass::gemv: return AttentionPart::product;
        case KernelClass::softmax:
            return contains_any(name, {"LogSoftMax", "log_softmax"}) ? AttentionPart::other : AttentionPart::softmax;
        case KernelClass::elementwise:
        case KernelClass::copy_cast:
        case KernelClass::random: return AttentionPart::pass;
        case KernelClass::triton:
            if (contains(name, "log_softmax")) return AttentionPart::other;
            if (contains(name, "softmax")) return AttentionPart::softmax;
            return traits.triton_kind == TritonKind::pointwise ? AttentionPart::pass : AttentionPart::other;
        default: return AttentionPart::other;
    }
}

// What a stream has run since its last product.
struct SinceProduct {
    Row product = kNoRow;
    bool softmax = false;
    std::size_t passes = 0;
    Row rows[kMostPasses + 1];  // the passes and the softmax

    void begin(Row row) { *this = {row, false, 0, {}}; }
    bool add(Row row) {
        if (product == kNoRow || passes > kMostPasses) return false;
        rows[passes++] = row;
        return true;
    }
};

}  // namespace

UnfusedAttention UnfusedAttention::make(const Facts& facts) {
    UnfusedAttention found;
    const Trace& trace = facts.trace();
    const KernelTable& kernels = trace.kernel();
    const KernelNames& names = facts.get<KernelNames>();
    const std::vector<KernelGroup>& groups = facts.get<KernelGroups>().groups;
    std::vector<AttentionPart> parts(groups.size());
    std::vector<std::uint32_t> place(groups.size());  // in `groups`, by slot of the name
    bool any = false;
    for (std::uint32_t i = 0; i < groups.size(); ++i) {
        place[names.order[i]] = i;
        parts[names.order[i]] = attention_part(groups[i].traits, trace.text(groups[i].name));
        any = any || parts[names.order[i]] == AttentionPart::softmax;
    }
    if (!any) return found;
    found.passes_of.resize(groups.size());
    std::map<std::pair<std::int32_t, std::int32_t>, SinceProduct> streams;
    DurNs longest = 0;
    for (Row row = 0; row < kernels.rows; ++row) {
        std::uint32_t slot = names.groups.of(row);
        if (slot == NameGroups::kLeftOut) continue;
        SinceProduct& since = streams[{kernels.device.value_or(row, -1), kernels.stream.value_or(row, -1)}];
        AttentionPart part = parts[slot];
        if (part == AttentionPart::product && since.softmax) {
            if (found.count++ == 0) found.roles.resize(kernels.rows);
            found.roles[since.product] = found.roles[row] = AttentionRole::product;
            found.products += kernels.dur[since.product] + kernels.dur[row];
            for (std::size_t i = 0; i < since.passes; ++i) {
                std::uint32_t of = names.groups.of(since.rows[i]);
                found.passes += kernels.dur[since.rows[i]];
                found.roles[since.rows[i]] = AttentionRole::pass;
                found.passes_of[place[of]] += kernels.dur[since.rows[i]];
                if (parts[of] != AttentionPart::softmax || kernels.dur[since.rows[i]] < longest) continue;
                longest = kernels.dur[since.rows[i]];
                found.longest = since.rows[i];
            }
            since = {};  // this product is that of one attention only
        } else if (part == AttentionPart::product) {
            since.begin(row);
        } else if (part == AttentionPart::other || (part == AttentionPart::softmax && since.softmax) ||
                   !since.add(row)) {
            since = {};
        } else {
            since.softmax = since.softmax || part == AttentionPart::softmax;
        }
    }
    return found;
}

}  // namespace gpuprof::facts
