#include "core/analyze/findings/rule.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analyze/analysis.h"
#include "core/analyze/stack_samples.h"
#include "core/base/readable.h"

namespace gpuprof {
namespace {

constexpr Rule kRules[] = {
    {"input-pipeline", "The device waits while the host fetches or prepares input.", look_for_input_wait, true},
    {"small-kernels", "The device waits for launches: many kernels, each shorter than the cost of submitting it.",
     look_for_launch_cost, true},
    {"synchronisation", "The host waits for the device and the device then waits for the host.",
     look_for_synchronisation, true},
    {"idle-gaps", "The device is idle while the host runs other code.", look_for_idle_gaps, true},
    {"memory-transfers", "Copies between host and device that nothing hides.", look_for_transfers, true},
    {"allocation-churn", "Device memory is allocated and freed in the steady state.", look_for_allocation_churn},
    {"memory-bound-kernels", "Kernels that move data and compute little.", look_for_memory_bound_kernels},
    {"underfilled-device", "Kernels with too few blocks to use every multiprocessor.", look_for_underfilled_device},
    {"layout-conversion", "Kernels that only change the layout of data.", look_for_layout_changes},
    {"low-occupancy", "Launches that cannot keep enough warps resident.", look_for_low_occupancy},
    {"slow-convolution", "Convolutions that dominate and could run by a faster algorithm, layout or precision.",
     look_for_slow_convolutions},
    {"no-tensor-cores", "Matrix products on CUDA cores of a device with tensor cores.", look_for_unused_tensor_cores},
    {"exposed-communication", "Collectives that no other kernel hides.", look_for_exposed_communication, true},
    {"throttling", "The device ran below its clocks for heat or power.", look_for_throttling},
    {"profiler-cost", "The recorder itself slowed what it recorded.", look_for_profiler_cost},
};

constexpr double kHighShare = 20, kMediumShare = 5;  // percent of the window

}  // namespace

std::span<const Rule> rules() { return kRules; }

void Case::add(Finding finding) {
    finding.share_pct = shares().pct(finding.cost_ns);
    finding.severity = finding.share_pct >= kHighShare     ? Weight::high
                       : finding.share_pct >= kMediumShare ? Weight::medium
                                                           : Weight::low;
    diagnosis_.findings.push_back(std::move(finding));
}

void Case::abstain(std::string_view rule, std::string_view because) {
    diagnosis_.abstentions.push_back(fmt::format("{}: cannot tell; {}", rule, because));
}

std::string Case::kernel(std::size_t group) const {
    DurNs sum = 0;
    for (const KernelGroup& each : kernels()) sum += each.total_ns;
    const KernelGroup& found = kernels()[group];
    return fmt::format(
        "k-{} ({} in {} launches, {} % of kernel time): {}", group + 1,
        readable_duration(static_cast<double>(found.total_ns)), readable_count(static_cast<std::int64_t>(found.count)),
        readable_percent(100.0 * static_cast<double>(found.total_ns) / static_cast<double>(std::max<DurNs>(1, sum))),
        trace().text(found.name));
}

std::string Case::idle(IdleCause cause) const {
    std::string handle = row("idle", "cause", name_of(cause));
    return fmt::format("{}: {} of idle time is {}", handle,
                       readable_duration(static_cast<double>(shares().idle_of(cause))), name_of(cause));
}

std::string Case::longest_gap(IdleCause cause) const {
    const PodVector<IdleGap>& gaps = study.gaps().gaps;
    const IdleGap* longest = nullptr;
    for (const IdleGap& gap : gaps)
        if (gap.cause == cause && gap.dur >= study.options().gap_min_ns &&
            (longest == nullptr || listed_before(gap, *longest)))
            longest = &gap;
    if (longest == nullptr) return "";
    auto before =
        std::count_if(gaps.begin(), gaps.end(), [&](const IdleGap& gap) { return listed_before(gap, *longest); });
    std::string text = fmt::format("gap-{}: {} idle", before + 1, readable_duration(static_cast<double>(longest->dur)));
    if (longest->host_what != kNoString) text += fmt::format(" while {} ran", trace().text(longest->host_what));
    if (longest->host_thread != kNoString) text += fmt::format(" on thread {}", trace().text(longest->host_thread));
    return text;
}

std::string Case::python(IdleCause cause) const {
    std::string sentence = study.idle_python().of(cause).sentence();
    return sentence.empty() ? "" : fmt::format("Sampled meanwhile: {}", sentence);
}

std::string Case::row(std::string_view analysis, std::string_view column, std::string_view value) const {
    const Analysis* found = find_analysis(analysis);
    if (found == nullptr) return "";
    Result<ResultTable> table = found->run(study);
    if (!table.ok()) return "";
    std::size_t at = table->column(column);
    for (std::size_t i = 0; at < table->columns().size() && i < table->rows(); ++i) {
        Cell cell = table->cell(i, at);
        if (const auto* text = std::get_if<std::string_view>(&cell); text != nullptr && *text == value)
            return fmt::format("{}-{}", table->handle_prefix, i + 1);
    }
    return "";
}

}  // namespace gpuprof
