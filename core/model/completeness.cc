#include "core/model/completeness.h"

#include <fmt/format.h>

#include "core/base/text/readable.h"
#include "core/model/build/batch.h"
#include "core/model/build/links.h"

namespace gpuprof::inline model {
std::uint64_t Completeness::calls() const {
    std::uint64_t sum = 0;
    for (const SubmittedWork& kind : of) sum += kind.calls;
    return sum;
}

std::uint64_t Completeness::without_work() const {
    std::uint64_t sum = 0;
    for (const SubmittedWork& kind : of) sum += kind.without_work;
    return sum;
}

std::uint64_t Completeness::at_edge() const {
    std::uint64_t sum = 0;
    for (const SubmittedWork& kind : of) sum += kind.at_edge;
    return sum;
}

double Completeness::missing_share() const {
    auto missing = static_cast<double>(without_work() + nodes_missing);
    return missing == 0 ? 0 : missing / (missing + static_cast<double>(ops));
}

std::string Completeness::unknown_because() const {
    auto counted = [](std::uint64_t count, std::string_view one, std::string_view more) {
        return fmt::format("{} {}", readable_count(static_cast<std::int64_t>(count)), count == 1 ? one : more);
    };
    if (measured_instead) return "kernels were measured by counters instead of being recorded";
    if (calls() == 0 && calls_uncheckable == 0)
        return ops > 0 ? "no kernel launches were recorded" : "neither kernel launches nor device work was recorded";
    if (calls_uncheckable > 0)
        return counted(calls_uncheckable, "call that submits work has", "calls that submit work have") +
               " no correlation id";
    if (ops_uncheckable > 0)
        return counted(ops_uncheckable, "kernel, copy or fill has", "kernels, copies and fills have") +
               " no correlation id or no process with recorded launches";
    if (graph_launches_unchecked > 0)
        return "the nodes of " + counted(graph_launches_unchecked, "graph launch", "graph launches") +
               " cannot be checked";
    if (static_cast<double>(at_edge()) > kEdgeShare * static_cast<double>(calls()))
        return "the work of " + counted(at_edge(), "call", "calls") +
               " at the start or end of the recording ran outside it or was lost";
    if (endless_capture) return "the end of a stream capture was not recorded";
    return "";
}

void lose_missing_work(const LinkCounts& links, const Completeness& complete, Batch& losses) {
    auto lose = [&](Loss loss, std::uint64_t count, std::string_view place) {
        if (count > 0) losses.lose(loss, place, count);
    };
    auto part = [](std::uint64_t missing, std::uint64_t all, std::string_view what) {
        return fmt::format("{} of {} {}", readable_count(static_cast<std::int64_t>(missing)),
                           readable_count(static_cast<std::int64_t>(all)), what);
    };
    const SubmittedWork &kernels = complete[Submission::kernel], &graphs = complete[Submission::graph],
                        &copies = complete[Submission::copy], &fills = complete[Submission::fill];
    lose(Loss::duplicate_correlation, links.duplicate_correlations, "api_call");
    std::uint64_t unmatched = links.ops_before_calls + links.ops_uncheckable;
    lose(
        Loss::unmatched_launch, unmatched,
        fmt::format("{} device op{}", readable_count(static_cast<std::int64_t>(unmatched)), unmatched == 1 ? "" : "s"));
    lose(Loss::work_without_call, complete.ops_without_call,
         part(complete.ops_without_call, complete.ops, "device ops"));
    lose(Loss::launch_without_kernel, kernels.without_work,
         part(kernels.without_work, kernels.calls, "kernel launches"));
    lose(Loss::graph_without_nodes, graphs.without_work, part(graphs.without_work, graphs.calls, "graph launches"));
    lose(Loss::missing_graph_node, complete.nodes_missing, "graph launches");
    lose(Loss::copy_without_record, copies.without_work + fills.without_work,
         fmt::format("{} and {}", part(copies.without_work, copies.calls, "copy calls"),
                     part(fills.without_work, fills.calls, "fill calls")));
    lose(Loss::zero_duration, complete.kernels_of_no_time,
         part(complete.kernels_of_no_time, complete.kernels, "kernels"));
    lose(Loss::work_at_edge, complete.at_edge(), part(complete.at_edge(), complete.calls(), "calls that submit work"));
}

}  // namespace gpuprof::model
