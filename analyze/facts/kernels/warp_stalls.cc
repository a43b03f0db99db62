#include "analyze/facts/kernels/warp_stalls.h"

#include <fmt/format.h>

#include <algorithm>

namespace gpuprof::inline facts {
namespace {

// Of 19 reasons; with fewer, the largest may be missing.
constexpr std::size_t kFewestReasons = 8;
constexpr double kFewSamples = 100;
constexpr double kShortKernel = 5'000;  // ns
constexpr double kTie = 2;              // percentage points

bool is_wait(const StallShare& share) {
    return share.reason->per_issue != KernelMetric::stall_selected &&
           share.reason->per_issue != KernelMetric::stall_not_selected;
}

std::vector<StallShare> shares_of(const MeasuredKernel& kernel, bool sampled) {
    std::vector<StallShare> shares;
    double sum = 0;
    for (const StallReason& reason : stall_reasons()) {
        std::optional<double> value = kernel[sampled ? reason.samples : reason.per_issue];
        if (!value) continue;
        shares.push_back({.reason = &reason, .pct = *value, .cycles = {}});
        if (!sampled) shares.back().cycles = *value;
        sum += *value;
    }
    // The latency is the sum of all reasons, so shares are right even if only some were collected.
    std::optional<double> latency = sampled ? kernel[KernelMetric::samples] : kernel[KernelMetric::latency];
    bool some = shares.size() < stall_reasons().size() - 3;  // three exist on some GPUs only
    double whole = some && latency ? *latency : sum;
    if (!(whole > 0) || (some && !latency)) return {};
    for (StallShare& share : shares) share.pct *= 100 / whole;
    std::stable_sort(shares.begin(), shares.end(),
                     [](const StallShare& a, const StallShare& b) { return a.pct > b.pct; });
    return shares;
}

}  // namespace

const StallShare* WarpStalls::top() const {
    auto found = std::find_if(shares.begin(), shares.end(), is_wait);
    return found == shares.end() ? nullptr : &*found;
}

bool WarpStalls::tie() const {
    const StallShare* first = top();
    return first != nullptr && std::any_of(shares.begin(), shares.end(), [&](const StallShare& share) {
               return &share != first && is_wait(share) && first->pct - share.pct < kTie;
           });
}

double WarpStalls::pct(KernelMetric per_issue) const {
    for (const StallShare& share : shares)
        if (share.reason->per_issue == per_issue) return share.pct;
    return 0;
}

std::optional<WarpStalls> warp_stalls(const MeasuredKernel& kernel) {
    WarpStalls stalls;
    stalls.shares = shares_of(kernel, false);
    if (stalls.shares.size() < kFewestReasons) {
        stalls.shares = shares_of(kernel, true);
        stalls.sampled = true;
    }
    if (stalls.shares.size() < kFewestReasons) return std::nullopt;
    double samples = kernel[KernelMetric::samples].value_or(0);
    if (stalls.sampled && samples < kFewSamples)
        stalls.doubt = fmt::format("only {:.0f} samples", samples);
    else if (stalls.sampled && stalls.tie())
        stalls.doubt = fmt::format("another reason is within {:.0f} points of the largest", kTie);
    else if (!stalls.sampled && kernel.duration_ns().value_or(kShortKernel) < kShortKernel)
        stalls.doubt = fmt::format("the kernel takes {:.1f} us", *kernel.duration_ns() / 1000);
    return stalls;
}

}  // namespace gpuprof::facts
