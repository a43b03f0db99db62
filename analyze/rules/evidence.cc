#include "analyze/rules/evidence.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/facts/host/code_places.h"
#include "analyze/facts/host/stack_samples.h"
#include "analyze/facts/idle/gaps.h"
#include "analyze/facts/idle/idle_calls.h"
#include "analyze/facts/idle/idle_cpu_waits.h"
#include "analyze/facts/idle/profiler_cost.h"
#include "analyze/facts/kernels/unfused_attention.h"
#include "analyze/facts/shares.h"
#include "analyze/facts/steps/step_finder.h"
#include "core/base/text/ascii.h"
#include "core/base/text/function_name.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

constexpr std::size_t kExamples = 3;
// Collectives of losses, norms and statistics are a handful in a step.
constexpr std::size_t kMinSmallPerStep = 10;

// What tells a kernel from others in a sentence. CUTLASS calls every kernel Kernel or Kernel2 and says the rest in the first
// template argument.
std::string kernel_label(std::string_view name) {
    std::string label = short_name(name);
    if (label != "Kernel" && label != "Kernel2") return label;
    std::string whole = demangled(name);
    std::size_t begin = whole.find('<') + 1, end = whole.find_first_of(",<>", begin);
    return begin == 0 || end == whole.npos ? label : whole.substr(begin, end - begin);
}

// idle-N counts the rows of all devices before it.
std::string idle_handle(const IdleGaps& gaps, IdleCause cause) {
    std::size_t rows = 0;
    for (const DeviceIdle& device : gaps.devices)
        for (IdleCause each : causes_of(device)) {
            ++rows;
            if (each == cause) return fmt::format("idle-{}: ", rows);
        }
    return "";
}

// Short host code that a verdict counts as launching, where no operators show which it is: `idle` lists it as host compute.
std::string counted_elsewhere(const Facts& facts, IdleCause cause) {
    DurNs between = 0;
    for (const DeviceIdle& device : facts.get<IdleGaps>().devices) between += device.between_launches;
    between = facts.get<ProfilerCost>().undoubted(between);
    if (between <= 0) return "";
    if (cause == IdleCause::host_compute)
        return fmt::format(", of which {} between launches counts as launching", readable_duration(between));
    if (cause == IdleCause::launch)
        return fmt::format(", and {} of host code between launches", readable_duration(between));
    return "";
}

}  // namespace

std::string spoken_count(std::size_t n) { return readable_count(static_cast<std::int64_t>(n)); }

std::string idle_line(const Facts& facts, IdleCause cause) {
    return fmt::format("{}{} of idle time: {}{}", idle_handle(facts.get<IdleGaps>(), cause),
                       readable_duration(facts.get<Shares>().idle_of(cause)), name_of(cause),
                       counted_elsewhere(facts, cause));
}

void push_gap_lines(const Facts& facts, IdleCause cause, Finding& finding) {
    std::vector<std::string>& evidence = finding.evidence;
    if (const auto& longest = facts.get<IdleGaps>().longest[static_cast<std::size_t>(cause)]) {
        const IdleGap& gap = longest->gap;
        std::string text = fmt::format("gap-{}: {} idle", longest->place, readable_duration(gap.dur));
        const Trace& trace = facts.trace();
        if (gap.recording) text += " while the profiler recorded operators and calls";
        if (gap.host_what != kNoString) text += fmt::format(" while {} ran", trace.text(gap.host_what));
        if (gap.host_thread != kNoString) text += fmt::format(" on thread {}", trace.text(gap.host_thread));
        if (std::optional<OsCallTime> call = facts.get<IdleOsCalls>().of(gap))
            text += fmt::format(", which spent {} of it in {}", readable_duration(call->ns), call->text(trace));
        if (std::optional<DurNs> wait = cpu_wait_of(facts, gap))
            text += fmt::format(", which was preempted and waited for a CPU for {} of it", readable_duration(*wait));
        if (std::string_view launch = facts.get<IdleLaunches>().of(trace, gap); !launch.empty())
            text += fmt::format(", before a launch in {}", launch);
        evidence.push_back(std::move(text));
    }
    if (std::optional<OsCallTime> call = facts.get<IdleOsCalls>().top(facts.get<IdleGaps>(), cause))
        evidence.push_back(fmt::format("{} of this time in the operating-system call {}", readable_duration(call->ns),
                                       call->text(facts.trace())));
    if (std::optional<LaunchPlaceTime> launch = facts.get<IdleLaunches>().top(facts.get<IdleGaps>(), cause))
        evidence.push_back(
            fmt::format("{} of this time ended with a launch in {}", readable_duration(launch->ns), launch->place));
    if (std::optional<DurNs> wait = facts.get<IdleCpuWaits>().of(facts.get<IdleGaps>(), cause))
        evidence.push_back(fmt::format("preempted, waiting for a CPU, for {} of this time", readable_duration(*wait)));
    const IdlePython& python = facts.get<IdlePython>();
    std::string sentence = python.of(cause).sentence();
    std::string_view how = python.basis() == PythonBasis::samples ? "Sampled" : "Python";
    if (!sentence.empty()) evidence.push_back(fmt::format("{} during this time: {}", how, sentence));
    if (finding.place.empty()) finding.place = python.of(cause).top();
    if (std::optional<LaunchPlaceTime> launch = facts.get<IdleLaunches>().top(facts.get<IdleGaps>(), cause))
        if (finding.place.empty()) finding.place = launch->place;
    const auto& longest = facts.get<IdleGaps>().longest[static_cast<std::size_t>(cause)];
    if (finding.place.empty() && longest && longest->gap.host_what != kNoString)
        finding.place = facts.trace().text(longest->gap.host_what);
}

void set_cost(Finding& finding, const Gain& gain) {
    finding.cost_ns = gain.ns;
    if (!gain.predicted) return;
    finding.predicted = predicted_gain(*gain.predicted);
    const PredictedGain& predicted = *finding.predicted;
    finding.evidence.push_back(fmt::format(
        "predicted with `{}`: {} per step instead of {} ({} to {}, {})", predicted.change,
        readable_duration(predicted.step), readable_duration(predicted.step_before),
        readable_duration(predicted.step_low), readable_duration(predicted.step_high), predicted.certainty));
}

DurNs busy_with(const Facts& facts, const KernelPart& part) {
    DurNs sum = 0;
    for (const KernelGroup& group : facts.get<KernelGroups>().groups) sum += part(group);
    return static_cast<DurNs>(static_cast<double>(sum) * facts.get<Shares>().overlap);
}

void push_kernel_lines(const Facts& facts, const KernelPart& part, Finding& finding) {
    const std::vector<KernelGroup>& groups = facts.get<KernelGroups>().groups;
    DurNs all = 0;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        all += groups[i].total_ns;
        if (part(groups[i]) > 0) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return part(groups[a]) > part(groups[b]); });
    for (std::size_t i = 0; i < std::min(order.size(), kExamples); ++i) {
        const KernelGroup& group = groups[order[i]];
        finding.evidence.push_back(fmt::format("k-{} ({} in {} launches, {} % of kernel time): {}", order[i] + 1,
                                               readable_duration(group.total_ns), spoken_count(group.count),
                                               readable_percent(100.0 * static_cast<double>(group.total_ns) /
                                                                static_cast<double>(std::max<DurNs>(1, all))),
                                               kernel_label(facts.trace().text(group.name))));
    }
    if (!finding.place.empty() || order.empty()) return;
    StringId top = groups[order.front()].name;
    const KernelTable& kernels = facts.trace().kernel();
    finding.place = facts.get<CodePlaces>().of_kernels(
        facts, [&](Row row) { return kernels.name.value_or(row, kNoString) == top; });
}

std::string names_are_uninformative(const Facts& facts) {
    DurNs all = 0, unknown = 0;
    for (const KernelGroup& group : facts.get<KernelGroups>().groups) {
        all += group.total_ns;
        if (group.traits.kind == KernelClass::other) unknown += group.total_ns;
    }
    if (2 * unknown <= all) return "";
    return fmt::format("the names of kernels that take {} of {} do not reveal their purpose",
                       readable_duration(unknown), readable_duration(all));
}

DurNs attention_passes(const Facts& facts, const KernelGroup& group) {
    return facts.get<UnfusedAttention>().passes_in(
        static_cast<std::size_t>(&group - facts.get<KernelGroups>().groups.data()));
}

DurNs casts_outside_attention(const Facts& facts, const KernelGroup& group) {
    return group.traits.cast ? group.total_ns - attention_passes(facts, group) : 0;
}

DurNs layout_changes(const Facts& facts, const KernelGroup& group) {
    if (!changes_layout(group.traits)) return 0;
    return group.total_ns - attention_passes(facts, group) - casts_outside_attention(facts, group);
}

DurNs row_additions(const Facts& facts, const KernelGroup& group) {
    bool adds = contains_any(
        facts.trace().text(group.name),
        {"indexing_backward", "embedding_backward", "EmbeddingBackward", "compute_grad_weight", "sum_and_scatter",
         "ReduceAdd", "scatter_add", "index_add", "indexFuncLargeIndex", "indexFuncSmallIndex", "atomicAdd"});
    return adds && group.traits.kind == KernelClass::embedding_index ? group.total_ns : 0;
}

DurNs of_bound(const KernelGroup& group, Bound bound) { return group.by_bound[static_cast<std::size_t>(bound)]; }

bool too_many_small(const Facts& facts, const CollectivePatterns::Small& found) {
    std::size_t steps = std::max<std::size_t>(1, facts.get<Steps>().steps.size());
    return found.count >= kMinSmallPerStep * steps && facts.get<Shares>().effective_pct(found.saved) >= kMinFindingPct;
}

DurNs fp32_gradients_cost(const Facts& facts) {
    auto half = static_cast<DurNs>(kBytesIn16Bits *
                                   static_cast<double>(facts.get<CollectivePatterns>().full_precision.exposed));
    bool most = facts.get<CollectivePatterns>().explained_by_type();
    return most && facts.get<Shares>().effective_pct(half) >= kMinFindingPct ? half : 0;
}

}  // namespace gpuprof::rules
