// A rule looks for one pattern and says what to change: a pure function from facts to a ruling. It fires with a
// finding, stays silent if the pattern is absent, or abstains and says what to record. It reads facts, never tables or
// other rules, and asks replay/gain.h how much time the change could recover. rule_list.h lists the rules; each is one
// file that defines one constant, and has its cases in tests/cases/rules.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyze/facts/facts.h"
#include "core/model/answer.h"

namespace gpuprof::inline rules {

struct Ruling {
    std::optional<Finding> finding;
    // Why the rule abstains, and what to record. With a finding: the same for the part that the finding does not cover.
    std::string cannot_tell;

    static Ruling silent() { return {}; }
    static Ruling fires(Finding finding) { return {std::move(finding), ""}; }
    // Silent when there is no reason.
    static Ruling abstain(std::string because) { return {std::nullopt, std::move(because)}; }
};

struct Rule {
    std::string_view id;   // stable, in kebab case
    std::string_view doc;  // the pattern, in a sentence
    Ruling (*look)(const Facts&);
    bool of_idle_time = false;  // what is idle or hidden: it cannot be known when much of the work was not recorded
    bool needs_work = true;     // not consulted if no device did anything
};

// Every rule, in the order of the reference page.
std::span<const Rule* const> all_rules();

}  // namespace gpuprof::rules
