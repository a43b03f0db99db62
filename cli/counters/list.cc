#include "cli/counters/list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "cli/output.h"
#include "collect/counters/catalogue.h"
#include "collect/counters/host_link.h"
#include "collect/counters/source_set.h"
#include "core/base/readable.h"

namespace gpuprof {
namespace {

using namespace counters;

// An error of the library, with the chips that it knows if the chip was wrong.
Error refusal(const PlanReply& reply) {
    std::string chips = reply.chips.empty() ? "" : fmt::format("; it knows {}", fmt::join(reply.chips, ", "));
    return {static_cast<ExitCode>(reply.code), reply.error + chips};
}

Result<PlanReply> ask(const PlanRequest& request) {
    Result<PlanReply> reply = request_plan(request);
    if (reply.ok() && reply->code != 0) return refusal(*reply);
    return reply;
}

std::string version_text(std::uint32_t version) {
    if (version < 130000) return fmt::format("version {}", version);
    return fmt::format("{}.{}", version / 10000, version % 10000 / 100);
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
    for (const MetricSet& set : metric_sets())
        text += fmt::format("{:<10}{:>4} metrics  {}\n", set.name, metrics_of(set.name).size(), set.doc);
    text +=
        fmt::format("{:<10}{:>4} metrics  {}\n", kSourceSet, std::size(kSourceMetrics),
                    "By source line: executed instructions, sectors and wavefronts, and what they would be at best.");
    text += "\nPasses depend on the GPU: gpu-profile counters --plan-for GH100\n";
    if (Status printed = print(text); !printed) return printed.error();
    return ExitCode::ok;
}

Result<ExitCode> plan_for_chip(const std::string& chip, const std::string& extra) {
    PlanRequest request{.program = {}, .chip = chip, .sets = {}, .list_metrics = false};
    std::vector<std::string> labels;
    for (const MetricSet& set : metric_sets()) {
        labels.emplace_back(set.name);
        request.sets.push_back(metrics_of(set.name));
    }
    if (!extra.empty()) {
        Result<std::vector<std::string>> names = metrics_of_option(extra);
        if (!names.ok()) return names.error();
        labels.emplace_back("chosen");
        request.sets.push_back(*names);
    }
    Result<PlanReply> reply = ask(request);
    if (!reply.ok()) return reply.error();
    std::string text = fmt::format("{}{}, by CUPTI {}\n\nset       passes  metrics   new  not on this GPU\n",
                                   reply->chip, reply->device.empty() ? "" : fmt::format(" ({})", reply->device),
                                   version_text(reply->cupti_version));
    std::vector<std::string> seen;
    for (std::size_t i = 0; i < reply->sets.size() && i < labels.size(); ++i) {
        const PlannedSet& set = reply->sets[i];
        text += fmt::format("{:<10}{:>6}{:>9}{:>6}  {}\n", labels[i],
                            set.error.empty() ? fmt::format("{}", set.passes) : "–", set.names.size(),
                            added(set.names, seen), fmt::join(set.absent, ", "));
        if (!set.left_apart.empty())
            text += fmt::format("          link counters need a measurement of their own: {}\n",
                                fmt::join(set.left_apart, ", "));
    }
    if (Status printed = print(text); !printed) return printed.error();
    return ExitCode::ok;
}

Result<ExitCode> list_counter_metrics(const std::string& chip) {
    Result<PlanReply> reply = ask({.program = {}, .chip = chip, .sets = {}, .list_metrics = true});
    if (!reply.ok()) return reply.error();
    std::string text;
    for (const std::string& name : reply->metrics) text += name + "\n";
    if (Status printed = print(text); !printed) return printed.error();
    note(fmt::format(
        "{} metrics of {}; add a submetric such as .sum, .avg.pct_of_peak_sustained_elapsed, .ratio or .pct",
        readable_count(static_cast<std::int64_t>(reply->metrics.size())), reply->chip));
    return ExitCode::ok;
}

}  // namespace gpuprof
