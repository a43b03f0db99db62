// Rules about a device that waits: for input, for launches, for the host that waits for it, for other host code.
#include <fmt/format.h>

#include <algorithm>

#include "core/analyze/call_kind.h"
#include "core/analyze/findings/rule.h"
#include "core/base/readable.h"

namespace gpuprof {
namespace {

constexpr double kWorthSaying = 3;  // percent of the effective window

// Launching and host code leave small gaps in every healthy run, so they need more: percent of the window, and twice that
// where the recorder may have made them, since what it cost is only known as a floor.
constexpr double kLaunchWorthSaying = 5, kHostWorthSaying = 8;

bool worth_saying(const Case& look, DurNs cost, double least) {
    return look.shares().pct(cost) >= (look.distortion().host_doubtful ? 2 * least : least);
}

std::string ns(DurNs dur) { return readable_duration(static_cast<double>(dur)); }

void push_known(std::vector<std::string>& evidence, std::string text) {
    if (!text.empty()) evidence.push_back(std::move(text));
}

bool single_process_loader(const Trace& trace) {
    for (Row row = 0; row < trace.range().rows; ++row)
        if (trace.text(trace.range().name.value_or(row, kNoString)).find("SingleProcessDataLoader") !=
            std::string_view::npos)
            return true;
    return false;
}

DurNs median_kernel(const Trace& trace) {
    std::vector<DurNs> durations(trace.kernel().dur.values(), trace.kernel().dur.values() + trace.kernel().rows);
    if (durations.empty()) return 0;
    auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
    std::nth_element(durations.begin(), middle, durations.end());
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

}  // namespace

void look_for_input_wait(Case& look) {
    DurNs cost = look.shares().idle_of(IdleCause::input_pipeline);
    if (look.shares().effective_pct(cost) < kWorthSaying) return;
    Finding finding;
    finding.id = "input-pipeline";
    finding.cost_ns = cost;
    finding.title =
        fmt::format("The GPU waits for the input pipeline {} % of the time", readable_percent(look.shares().pct(cost)));
    finding.evidence.push_back(look.idle(IdleCause::input_pipeline));
    push_known(finding.evidence, look.longest_gap(IdleCause::input_pipeline));
    push_known(finding.evidence, look.python(IdleCause::input_pipeline));
    finding.remedy =
        "Prepare batches ahead of the GPU: DataLoader(num_workers>0, prefetch_factor, persistent_workers, "
        "pin_memory=True), cheaper or "
        "precomputed augmentation, or augmentation on the GPU.";
    if (single_process_loader(look.trace())) {
        finding.evidence.push_back("the DataLoader runs inside the training process (num_workers=0)");
        finding.remedy =
            "Set DataLoader(num_workers>0): it runs in the training process now. Then prefetch_factor, "
            "persistent_workers and "
            "pin_memory=True; after that cheaper, precomputed or GPU-side augmentation.";
    }
    finding.confidence = Weight::high;
    finding.would_change_if = "the loader's range overlapped device work, or the range's name did not mean loading";
    look.add(std::move(finding));
}

void look_for_launch_cost(Case& look) {
    DurNs idle = look.shares().idle_of(IdleCause::launch);
    DurNs cost = look.distortion().undoubted(idle);
    if (!worth_saying(look, cost, kLaunchWorthSaying)) return;
    DurNs kernel = median_kernel(look.trace()), call = launch_cost_per_kernel(look.trace());
    bool small = call > 0 && kernel < 2 * call;
    Finding finding;
    finding.id = "small-kernels";
    finding.cost_ns = cost;
    finding.title =
        small ? fmt::format("Many small kernels: the median kernel runs {}, launching one takes the host {} and more",
                            ns(kernel), ns(call))
              : fmt::format("The GPU waits for launches {} % of the time", readable_percent(look.shares().pct(cost)));
    finding.evidence.push_back(look.idle(IdleCause::launch));
    finding.evidence.push_back(fmt::format("{} kernels, median {}; launching calls take {} per kernel",
                                           readable_count(static_cast<std::int64_t>(look.trace().kernel().rows)),
                                           ns(kernel), ns(call)));
    push_known(finding.evidence, look.longest_gap(IdleCause::launch));
    push_known(finding.evidence, look.python(IdleCause::launch));
    if (cost < idle)
        finding.evidence.push_back(
            fmt::format("{} more of launch wait may be the profiler's own cost and is not counted", ns(idle - cost)));
    finding.remedy =
        "Launch less and larger: torch.compile or fused operators, CUDA graphs for the steady state, larger batches, "
        "foreach/fused optimizers; "
        "less Python between launches.";
    finding.confidence = small && !look.distortion().host_doubtful ? Weight::high : Weight::medium;
    finding.would_change_if =
        "a recording with less overhead (gpu-profile record, nsys) showed the queue filled between kernels";
    look.add(std::move(finding));
}

void look_for_synchronisation(Case& look) {
    DurNs cost = look.shares().idle_of(IdleCause::synchronisation);
    if (look.shares().effective_pct(cost) < kWorthSaying) return;
    const ApiCallTable& calls = look.trace().api_call();
    std::uint64_t syncs = 0;
    StringId example = kNoString;
    for (Row row = 0; row < calls.rows; ++row) {
        if (!calls.name.has(row) || kind_of_call(look.trace().text(calls.name[row])) != CallKind::sync) continue;
        ++syncs;
        example = calls.name[row];
    }
    Finding finding;
    finding.id = "synchronisation";
    finding.cost_ns = cost;
    finding.title =
        fmt::format("Synchronisation leaves the GPU idle {} % of the time", readable_percent(look.shares().pct(cost)));
    finding.evidence.push_back(look.idle(IdleCause::synchronisation));
    finding.evidence.push_back(fmt::format("{} synchronising calls, such as {} ({})",
                                           readable_count(static_cast<std::int64_t>(syncs)), look.trace().text(example),
                                           look.row("api", "name", look.trace().text(example))));
    push_known(finding.evidence, look.longest_gap(IdleCause::synchronisation));
    push_known(finding.evidence, look.python(IdleCause::synchronisation));
    finding.remedy =
        "Do not wait for the GPU in every step: no .item(), .cpu() or print of device values in the loop, log every N "
        "steps, copy with "
        "non_blocking=True, wait on events instead of the whole device.";
    finding.confidence = Weight::high;
    finding.would_change_if = "the calls were the program's last wait for its results";
    look.add(std::move(finding));
}

void look_for_idle_gaps(Case& look) {
    DurNs host = look.distortion().undoubted(look.shares().idle_of(IdleCause::host_compute));
    DurNs cost =
        host + look.shares().idle_of(IdleCause::nothing_submitted) + look.shares().idle_of(IdleCause::compilation);
    if (DurNs unknown = look.shares().idle_of(IdleCause::unknown); look.shares().effective_pct(unknown) >= kWorthSaying)
        look.abstain(
            "idle-gaps",
            fmt::format("{} of idle time follows ops that were submitted long before, or calls that were not recorded",
                        ns(unknown)));
    if (!worth_saying(look, cost, kHostWorthSaying)) return;
    Finding finding;
    finding.id = "idle-gaps";
    finding.cost_ns = cost;
    finding.title = fmt::format("The GPU is idle {} % of the time while the host runs other code",
                                readable_percent(look.shares().pct(cost)));
    for (IdleCause cause : {IdleCause::host_compute, IdleCause::nothing_submitted, IdleCause::compilation}) {
        if (look.shares().idle_of(cause) == 0) continue;
        finding.evidence.push_back(look.idle(cause));
        push_known(finding.evidence, look.longest_gap(cause));
        push_known(finding.evidence, look.python(cause));
    }
    finding.remedy =
        "Move host work off the path that feeds the GPU: prepare the next step while this one runs, less Python "
        "between launches, "
        "CUDA graphs, compile and load modules before the loop.";
    finding.confidence = look.distortion().host_doubtful ? Weight::low : Weight::medium;
    finding.would_change_if = "the window was cut to the steady state (start-up and the last wait count as idle here)";
    look.add(std::move(finding));
}

}  // namespace gpuprof
