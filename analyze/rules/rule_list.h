// A rule looks for one pattern and says what to change: a pure function from facts to a ruling. It fires with a
// finding, stays silent if the pattern is absent, or abstains and says what to record. It reads facts, never tables or
// other rules, and asks replay/gain.h how much time the change could recover. Each is one file that
// defines one constant, and has its cases in tests/cases/rules. All are listed here, one line each: a line Name refers
// to the constant `const Rule kName`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyze/facts/facts.h"
#include "core/model/answer.h"

#define GPUPROF_RULES(RULE)    \
    RULE(InputPipeline)        \
    RULE(SmallKernels)         \
    RULE(Synchronisation)      \
    RULE(HostSampling)         \
    RULE(BetweenSteps)         \
    RULE(IdleGaps)             \
    RULE(MemoryTransfers)      \
    RULE(SmallCopies)          \
    RULE(PageMigrations)       \
    RULE(AllocationChurn)      \
    RULE(UnfusedAttention)     \
    RULE(SlowProducts)         \
    RULE(TypeCasts)            \
    RULE(UnfusedOptimizer)     \
    RULE(ScatteredUpdates)     \
    RULE(Recompilation)        \
    RULE(MemoryBoundKernels)   \
    RULE(MeasuredKernels)      \
    RULE(UnderfilledDevice)    \
    RULE(LayoutConversion)     \
    RULE(LowOccupancy)         \
    RULE(SlowConvolution)      \
    RULE(NoTensorCores)        \
    RULE(LateRanks)            \
    RULE(SmallCollectives)     \
    RULE(Fp32Gradients)        \
    RULE(ExposedCommunication) \
    RULE(Throttling)           \
    RULE(ProfilerCost)         \
    RULE(LibraryLogs)

namespace gpuprof::inline rules {

struct Ruling {
    std::optional<Finding> finding;
    // Why the rule abstains, and what to record. With a finding: the same for the part that the finding does not cover.
    std::string cannot_tell;

    static Ruling silent() { return {}; }
    // The remedy quotes the place, if the recording has one.
    static Ruling fires(Finding finding) {
        if (!finding.place.empty()) finding.remedy += " Where: " + finding.place + '.';
        return {std::move(finding), ""};
    }
    // Silent when there is no reason.
    static Ruling abstain(std::string because) { return {std::nullopt, std::move(because)}; }
};

struct Rule {
    std::string_view id;   // stable, in kebab case
    std::string_view doc;  // the pattern, in a sentence
    Ruling (*look)(const Facts&);
    Effort effort;              // of its remedy, where no change of whatif says more
    bool of_idle_time = false;  // what is idle or hidden: it cannot be known when much of the work was not recorded
    bool needs_work = true;     // not consulted if no device did anything
};

#define GPUPROF_RULE_DECLARE(Name) extern const Rule k##Name;
GPUPROF_RULES(GPUPROF_RULE_DECLARE)
#undef GPUPROF_RULE_DECLARE

// Every rule, in the order of the reference page.
#define GPUPROF_RULE_ADDRESS(Name) &k##Name,
inline constexpr const Rule* kAllRules[] = {GPUPROF_RULES(GPUPROF_RULE_ADDRESS)};
#undef GPUPROF_RULE_ADDRESS

// The remedy of a rule in a recording of a server of language models that mostly decodes, or does not, instead of the rule's own; "" if the finding does not
// apply to servers; absent: the rule's own.
std::optional<std::string_view> server_remedy(std::string_view rule, bool decodes);

}  // namespace gpuprof::rules
