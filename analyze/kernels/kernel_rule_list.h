// Rules about one measured kernel: pure functions from its profile to a ruling, like the rules about recordings
// (analyze/rules/rule_list.h). A rule fires, stays silent if what it looks for is absent, or abstains and says which
// counters it lacks. Each is defined in rules/, in the file of its id, and listed here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/facts/kernels/kernel_profile.h"
#include "core/model/answer.h"

#define GPUPROF_KERNEL_RULES(RULE) \
    RULE(DramBound)                \
    RULE(CacheBound)               \
    RULE(ComputeBound)             \
    RULE(LatencyBound)             \
    RULE(UncoalescedAccess)        \
    RULE(BankConflicts)            \
    RULE(LowOccupancy)             \
    RULE(TailEffect)               \
    RULE(SmImbalance)              \
    RULE(WithoutTensorCores)       \
    RULE(StarvedTensorCores)       \
    RULE(RegisterSpills)           \
    RULE(Divergence)               \
    RULE(ContendedAtomics)         \
    RULE(InstructionCache)

namespace gpuprof::inline kernels {

// Whether a finding says what the kernel is limited by, or why it comes to that.
enum class KernelFindingKind : std::uint8_t { limit, cause };

struct KernelFinding {
    std::string_view rule = {};  // its id
    KernelFindingKind kind = KernelFindingKind::cause;
    std::string title = {};
    std::vector<std::string> evidence = {};
    std::string remedy = {};
    // Of the kernel's duration, at most: what would be saved if only this were changed. Absent if it cannot be estimated.
    std::optional<double> gain_pct = {};
    Rating confidence = Rating::medium;
    std::string would_change_if = {};
};

struct KernelRuling {
    std::optional<KernelFinding> finding;
    std::string cannot_tell;  // why the rule abstains

    static KernelRuling silent() { return {}; }
    static KernelRuling fires(KernelFinding finding) { return {std::move(finding), ""}; }
    static KernelRuling abstain(std::string because) { return {std::nullopt, std::move(because)}; }
};

struct KernelRule {
    std::string_view id;     // stable, in kebab case
    std::string_view doc;    // the pattern, in a sentence
    std::string_view needs;  // counters that must be collected
    KernelRuling (*look)(const KernelProfile&);
};

#define GPUPROF_DECLARE_RULE(Name) extern const KernelRule k##Name##Kernel;
GPUPROF_KERNEL_RULES(GPUPROF_DECLARE_RULE)
#undef GPUPROF_DECLARE_RULE

#define GPUPROF_RULE_ADDRESS(Name) &k##Name##Kernel,
inline constexpr const KernelRule* kKernelRules[] = {GPUPROF_KERNEL_RULES(GPUPROF_RULE_ADDRESS)};
#undef GPUPROF_RULE_ADDRESS

}  // namespace gpuprof::kernels
