#include "cli/counters/list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "cli/output.h"
#include "collect/counters/counter_catalogue.h"
#include "collect/counters/host_link.h"
#include "collect/counters/source_set.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline cli {
namespace {

// An error of the library, with the chips that it knows if the chip was wrong.
Error refusal(const counters::PlanReply& reply) {
    std::string chips = reply.chips.empty() ? "" : fmt::format("; it knows {}", fmt::join(reply.chips, ", "));
    return {static_cast<ExitCode>(reply.code), reply.error + chips};
}

Result<counters::PlanReply> ask(const counters::PlanRequest& request) {
    Result<counters::PlanReply> reply = counters::request_plan(request);
    if (reply.ok() && reply->code != 0) return refusal(*reply);
    return reply;
}

std::string version_text(std::uint32_t version) {
    if (version < 130000) return fmt::format("version {}", version);
    return fmt::format("{}.{}", version / 10000, version % 10000 / 100);
}

std::string chip_line(const counters::PlanReply& reply) {
    return fmt::format("{}{}, by CUPTI {}\n", reply.chip,
                       reply.device.empty() ? "" : fmt::format(" ({})", reply.device),
                       version_text(reply.cupti_version));
}

std::string passes_text(const counters::PlannedSet& set) {
    return set.error.empty() ? fmt::format("{}", set.passes) : "–";
}

// Metrics that an earlier set does not have.
std::size_t added(const std::vector<std::string>& names, std::vector<std::string>& seen) {
    std::size_t count = 0;
    for (const std::string& name : names) {
        if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
        seen.push_back(name);
        ++count;
    }
    return count;
}

}  // namespace

Result<ExitCode> list_counter_sets() {
    std::string text;
    for (const counters::MetricSet& set : counters::metric_sets())
        text += fmt::format("{:<10}{:>4} metrics  {}\n", set.name, counters::metrics_of(set.name).size(), set.doc);
    text += fmt::format("{:<10}{:>4} metrics  {}\n", counters::kSourceSet, std::size(counters::kSourceMetrics),
                        counters::kSourceDoc);
    text += "\nPasses depend on the GPU: gpu-profile counters --plan-for GH100\n";
    if (Status printed = print(text); !printed) return printed.error();
    return ExitCode::ok;
}

Result<ExitCode> plan_sets_for_chip(const std::string& chip) {
    counters::PlanRequest request{.program = {}, .chip = chip, .sets = {}, .list_metrics = false};
    for (const counters::MetricSet& set : counters::metric_sets()) request.sets.emplace_back(set.name);
    Result<counters::PlanReply> reply = ask(request);
    if (!reply.ok()) return reply.error();
    std::string text = chip_line(*reply) + "\nset       passes  metrics   new  not on this GPU\n";
    std::vector<std::string> seen;
    for (std::size_t i = 0; i < reply->sets.size() && i < counters::metric_sets().size(); ++i) {
        const counters::PlannedSet& set = reply->sets[i];
        text += fmt::format("{:<10}{:>6}{:>9}{:>6}  {}\n", counters::metric_sets()[i].name, passes_text(set),
                            set.names.size(), added(set.names, seen), fmt::join(set.absent, ", "));
        if (!set.costly.empty())
            text += fmt::format("          omitted, because it would cost a pass: {}\n", fmt::join(set.costly, ", "));
    }
    if (Status printed = print(text); !printed) return printed.error();
    return ExitCode::ok;
}

Result<ExitCode> plan_metrics_for_chip(const std::string& chip, const std::string& set) {
    if (set == counters::kSourceSet)
        return Error{ExitCode::usage,
                     "the counters of --set source are counted by patched code in one run, so they have no passes"};
    Result<std::vector<std::string>> names = counters::metrics_of_option(set);
    if (!names.ok()) return names.error();
    counters::PlanRequest request{.program = {}, .chip = chip, .sets = {set}, .list_metrics = false};
    for (const std::string& name : *names) request.sets.push_back(name);
    Result<counters::PlanReply> reply = ask(request);
    if (!reply.ok()) return reply.error();
    if (reply->sets.size() != request.sets.size())
        return Error{ExitCode::internal, "CUPTI's process planned fewer sets than requested"};
    const counters::PlannedSet& whole = reply->sets.front();
    if (!whole.error.empty()) return Error{static_cast<ExitCode>(whole.code), whole.error};
    std::string text = chip_line(*reply) + "\npasses alone  metric\n";
    for (std::size_t i = 0; i < names->size(); ++i) {
        const counters::PlannedSet& alone = reply->sets[i + 1];
        text += fmt::format("{:>12}  {}{}\n", passes_text(alone), (*names)[i],
                            alone.error.empty() ? "" : "  (not on this GPU)");
    }
    text += fmt::format("{:>12}  together\n", whole.passes);
    if (!whole.separate.empty())
        text += fmt::format("link counters need a measurement of their own: {}\n", fmt::join(whole.separate, ", "));
    if (Status printed = print(text); !printed) return printed.error();
    return ExitCode::ok;
}

Result<ExitCode> list_counter_metrics(const std::string& chip) {
    Result<counters::PlanReply> reply = ask({.program = {}, .chip = chip, .sets = {}, .list_metrics = true});
    if (!reply.ok()) return reply.error();
    std::string text;
    for (const std::string& name : reply->metrics) text += name + "\n";
    if (Status printed = print(text); !printed) return printed.error();
    note(fmt::format(
        "{} metrics of {}; add a submetric such as .sum, .avg.pct_of_peak_sustained_elapsed, .ratio or .pct",
        readable_count(static_cast<std::int64_t>(reply->metrics.size())), reply->chip));
    return ExitCode::ok;
}

}  // namespace gpuprof::cli
