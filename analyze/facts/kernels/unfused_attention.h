// Attention that runs as separate kernels: a matrix product gives the scores, a softmax follows, and another product
// applies them. The scores pass through memory several times; a fused kernel (KernelClass::attention) keeps them on the
// chip. Found in the order of each stream: product, up to kMostPasses elementwise kernels, softmax, elementwise kernels,
// product. A softmax for a loss (log-softmax) or over the last layer's output has no product after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/ids.h"

namespace gpuprof::inline facts {

class Facts;

// What a kernel is in an unfused attention.
enum class AttentionRole : std::uint8_t { none, pass, product };

struct UnfusedAttention {
    std::size_t count = 0;  // softmaxes between two products
    DurNs products = 0;     // summed durations of the products next to them
    DurNs passes = 0;       // summed durations of the softmaxes and elementwise kernels, which a fused kernel saves
    std::vector<DurNs> passes_of;      // by group of KernelGroups, as `passes`
    Row longest = kNoRow;              // the softmax that takes longest
    std::vector<AttentionRole> roles;  // by row of kernel; empty if there is none

    AttentionRole role_of(Row kernel) const { return roles.empty() ? AttentionRole::none : roles[kernel]; }

    // `group`: an index in KernelGroups.
    DurNs passes_in(std::size_t group) const { return group < passes_of.size() ? passes_of[group] : 0; }
    static UnfusedAttention make(const Facts& facts);
};

}  // namespace gpuprof::facts
