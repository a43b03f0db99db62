// A rule about one measured kernel: a pure function from its profile to a ruling, like the rules about recordings
// (analyze/rules/rule.h). It fires, stays silent if what it looks for is absent, or abstains and says which counters
// it lacks. kernel_rule_list.h lists the rules; each is one file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/facts/kernels/kernel_profile.h"
#include "core/model/answer.h"

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

std::span<const KernelRule* const> kernel_rules();

}  // namespace gpuprof::kernels
