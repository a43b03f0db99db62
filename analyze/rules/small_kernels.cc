// The device waits for launches: many kernels, each shorter than the time to launch it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analyze/facts/context.h"
#include "analyze/facts/practices.h"
#include "analyze/facts/shares.h"
#include "analyze/replay/gain.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/pod_vector.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

// Launching leaves small gaps in every healthy run. In percent of the window; doubled if the recorder may have caused
// the gaps, since only a lower bound of its cost is known.
constexpr double kMinSmallKernelsPct = 5;
// Of all kernels: from this part on, those that only move data are worth a word.
constexpr double kMinDataMoves = 0.3;
constexpr std::size_t kMostNamed = 3;

// Short durations are counted, each in nanoseconds; only the long ones are sorted, if the median is among them.
DurNs median_kernel(const Trace& trace) {
    constexpr DurNs kShort = 65'536;
    const KernelTable& kernels = trace.kernel();
    if (kernels.rows == 0) return 0;
    std::vector<std::uint32_t> count(kShort, 0);
    PodVector<DurNs> longer;
    for (Row row = 0; row < kernels.rows; ++row) {
        if (DurNs dur = kernels.dur[row]; dur < kShort)
            ++count[static_cast<std::size_t>(std::max<DurNs>(dur, 0))];
        else
            longer.push_back(dur);
    }
    std::size_t before = kernels.rows / 2;  // how many are shorter, or as short
    for (std::size_t dur = 0; dur < count.size(); before -= count[dur++])
        if (before < count[dur]) return static_cast<DurNs>(dur);
    DurNs* middle = longer.begin() + before;
    std::nth_element(longer.begin(), middle, longer.end());
    return *middle;
}

// Time in launching calls per kernel they launched; a graph launch counts once for all its kernels. 0 when no call was
// recorded.
DurNs launch_cost_per_kernel(const Trace& trace) {
    std::vector<bool> seen(trace.api_call().rows);
    DurNs spent = 0, kernels = 0;
    for (Row call : trace.links().kernel_launch) {
        if (call == kNoRow) continue;
        ++kernels;
        if (!seen[call]) spent += trace.api_call().dur[call];
        seen[call] = true;
    }
    return kernels > 0 ? spent / kernels : 0;
}

std::string remedy_for_small_kernels(const Context& context, const Practices& practices) {
    if (context.pytorch())
        return fmt::format("Launch fewer, larger kernels: use {}{}larger batches{}; run less Python between launches.",
                           practices.compiled ? "fused operators, " : "torch.compile or fused operators, ",
                           practices.graphs ? "" : "CUDA graphs, ",
                           practices.foreach_optimizer ? "" : ", and foreach or fused optimizers");
    if (context.framework == Framework::jax)
        return "Launch fewer, larger kernels: put the whole step under jax.jit, replace Python loops by lax.scan, and "
               "use larger batches.";
    if (context.framework == Framework::tensorrt)
        return "Launch fewer, larger kernels: capture the enqueue in a CUDA graph, use larger batches, and fuse "
               "layers.";
    if (context.directives)
        return "Launch fewer, larger kernels: merge parallel regions, collapse nested loops, and use async queues so "
               "that regions do not wait for each other.";
    return "Launch fewer, larger kernels: fuse consecutive kernels, capture repeated sequences in a CUDA graph, and "
           "give each launch more work.";
}

// "480 of 1,200 kernels copy, cast, concatenate or index: k-3, k-7"; "" if they are few.
std::string data_moves_line(const Facts& facts) {
    std::uint64_t all = 0, moves = 0;
    std::string handles;
    std::size_t named = 0, place = 0;
    for (const KernelGroup& group : facts.get<KernelGroups>().groups) {
        ++place;
        all += group.count;
        KernelClass kind = group.traits.kind;
        if (kind != KernelClass::copy_cast && kind != KernelClass::embedding_index && kind != KernelClass::layout)
            continue;
        moves += group.count;
        if (named++ < kMostNamed) handles += fmt::format("{}k-{}", handles.empty() ? "" : ", ", place);
    }
    if (static_cast<double>(moves) < kMinDataMoves * static_cast<double>(all)) return "";
    return fmt::format("{} of {} kernels copy, cast, concatenate or index: {}", spoken_count(moves), spoken_count(all),
                       handles);
}

Ruling look_for_small_kernels(const Facts& facts) {
    const ProfilerCost& cost = facts.get<ProfilerCost>();
    const Shares& shares = facts.get<Shares>();
    DurNs idle = shares.idle_of(IdleCause::launch);
    Finding finding;
    const Gain& gain = gain_without(facts, Waste::launching);
    double least = cost.host_doubtful && !gain.predicted ? 2 * kMinSmallKernelsPct : kMinSmallKernelsPct;
    if ((gain.predicted ? gain.pct : shares.pct(gain.ns)) < least) return Ruling::silent();
    set_cost(finding, gain);
    DurNs kernel = median_kernel(facts.trace()), call = launch_cost_per_kernel(facts.trace());
    bool small = call > 0 && kernel < 2 * call;
    std::string_view what = small ? "Many small kernels: launching them costs" : "Launching kernels costs";
    finding.title = gain.predicted ? fmt::format("{} {} % of a step", what, readable_percent(gain.pct))
                                   : fmt::format("{} {}", what, share_text(facts, gain.ns));
    finding.evidence.push_back(idle_line(facts, IdleCause::launch));
    std::string launching = call > 0 ? fmt::format("; launch calls take {} per kernel", readable_duration(call)) : "";
    finding.evidence.push_back(fmt::format("{} kernels, median {}{}", spoken_count(facts.trace().kernel().rows),
                                           readable_duration(kernel), launching));
    if (std::string line = data_moves_line(facts); !line.empty()) finding.evidence.push_back(std::move(line));
    push_gap_lines(facts, IdleCause::launch, finding);
    if (!gain.predicted && gain.ns < idle)
        finding.evidence.push_back(fmt::format("another {} of launch wait may be profiler overhead and is not counted",
                                               readable_duration(idle - gain.ns)));
    finding.remedy = remedy_for_small_kernels(facts.get<Context>(), facts.get<Practices>());
    finding.confidence = small && (!cost.host_doubtful || gain.predicted) ? Rating::high : Rating::medium;
    finding.basis = Basis::timeline;
    finding.would_change_if =
        "a recording with less overhead (gpu-profile record, nsys) shows a full queue between kernels";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kSmallKernels{"small-kernels",
                         "The GPU waits for launches: many kernels, each shorter than the time to launch it.",
                         look_for_small_kernels, Effort::edit, true};

}  // namespace gpuprof::rules
