// Rules about kernels: what limits them and what would make them faster, as far as names, shapes and launches tell.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/analyze/findings/rule.h"
#include "core/analyze/knowledge/device_peaks.h"
#include "core/analyze/knowledge/occupancy.h"
#include "core/base/readable.h"

namespace gpuprof {
namespace {

constexpr double kWorthSaying = 3;  // percent of the effective window
constexpr std::size_t kExamples = 3;

std::string ns(DurNs dur) { return readable_duration(static_cast<double>(dur)); }

// Kernel busy time per ns of summed kernel duration: below 1 where kernels overlap.
double overlap_factor(const Case& look) {
    DurNs sum = 0, busy = 0;
    for (const KernelGroup& group : look.kernels())
        if (group.traits.kind != KernelClass::collective) sum += group.total_ns;
    for (std::size_t bound = 0; bound < kBounds; ++bound) busy += look.shares().kernel[bound];
    return sum > 0 ? static_cast<double>(busy) / static_cast<double>(sum) : 0;
}

// The part of each group that matters to a rule, in ns of summed durations.
using Part = std::function<DurNs(const KernelGroup&)>;

DurNs busy_part(const Case& look, const Part& part) {
    DurNs sum = 0;
    for (const KernelGroup& group : look.kernels()) sum += part(group);
    return static_cast<DurNs>(static_cast<double>(sum) * overlap_factor(look));
}

// The groups with the largest parts, as evidence.
void name_examples(const Case& look, const Part& part, Finding& finding) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < look.kernels().size(); ++i)
        if (part(look.kernels()[i]) > 0) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return part(look.kernels()[a]) > part(look.kernels()[b]); });
    for (std::size_t i = 0; i < std::min(order.size(), kExamples); ++i)
        finding.evidence.push_back(look.kernel(order[i]));
}

DurNs of_bound(const KernelGroup& group, Bound bound) { return group.by_bound[static_cast<std::size_t>(bound)]; }

bool is_matrix_product(const KernelGroup& group) {
    return group.traits.kind == KernelClass::gemm || group.traits.kind == KernelClass::convolution ||
           group.traits.kind == KernelClass::attention;
}

// Whether every device with a known capability has tensor cores (NVIDIA 7.0 and later; GTX 16xx lack them and say 7.5).
bool has_tensor_cores(const Trace& trace) {
    const DeviceTable& devices = trace.tables().device;
    bool any = false;
    for (Row row = 0; row < devices.rows; ++row) {
        if (!devices.cc_major.has(row) || trace.text(devices.vendor.value_or(row, kNoString)) == "amd") return false;
        if (devices.cc_major[row] < 7 ||
            trace.text(devices.name.value_or(row, kNoString)).find("GTX") != std::string_view::npos)
            return false;
        any = true;
    }
    return any;
}

// Theoretical occupancy of a kernel row, when its launch and device are known.
std::optional<Occupancy> occupancy_of(const Trace& trace, Row row) {
    const KernelTable& kernels = trace.kernel();
    const DeviceTable& devices = trace.tables().device;
    if (!kernels.block_x.has(row) || !kernels.registers.has(row) || !kernels.shared_bytes.has(row)) return std::nullopt;
    for (Row device = 0; device < devices.rows; ++device) {
        if (devices.device[device] != kernels.device.value_or(row, -1)) continue;
        DeviceLimits limits;
        limits.cc_major = devices.cc_major.value_or(device, 0);
        limits.cc_minor = devices.cc_minor.value_or(device, 0);
        limits.name = trace.text(devices.name.value_or(device, kNoString));
        LaunchShape shape{kernels.block_x[row], kernels.block_y.value_or(row, 1), kernels.block_z.value_or(row, 1),
                          kernels.registers[row], kernels.shared_bytes[row]};
        return theoretical_occupancy(shape, limits);
    }
    return std::nullopt;
}

}  // namespace

void look_for_memory_bound_kernels(Case& look) {
    Part part = [](const KernelGroup& group) { return of_bound(group, Bound::memory); };
    DurNs cost = look.shares().kernel_of(Bound::memory);
    if (look.shares().effective_pct(cost) < 10) return;
    Finding finding;
    finding.id = "memory-bound-kernels";
    finding.cost_ns = cost;
    finding.title = fmt::format("Kernels limited by memory bandwidth take {} % of the time",
                                readable_percent(look.shares().pct(cost)));
    name_examples(look, part, finding);
    finding.remedy =
        "Read and write memory less often: fuse neighbouring elementwise, normalisation and cast kernels "
        "(torch.compile, Triton, fused layers), "
        "use bf16/fp16 for activations, avoid copies and casts.";
    bool measured = false;
    for (const KernelGroup& group : look.kernels()) measured = measured || (group.by_shapes_ns > 0 && part(group) > 0);
    finding.confidence = measured ? Weight::high : Weight::medium;
    if (!measured)
        finding.evidence.push_back(
            "judged by what kernels of these names and launch shapes do; no bytes or counters were recorded");
    finding.would_change_if = "counters (gpu-profile counters, ncu) showed DRAM throughput far below its peak";
    look.add(std::move(finding));
}

void look_for_underfilled_device(Case& look) {
    DurNs underfilled = look.shares().kernel_of(Bound::underfilled);
    if (look.shares().effective_pct(underfilled) < 10 ||
        look.shares().effective_pct(look.shares().unfilled) < kWorthSaying)
        return;
    Part part = [](const KernelGroup& group) { return of_bound(group, Bound::underfilled); };
    Finding finding;
    finding.id = "underfilled-device";
    finding.cost_ns = look.shares().unfilled;
    finding.title = fmt::format("Kernels too small to fill the GPU run {} % of the time",
                                readable_percent(look.shares().pct(underfilled)));
    finding.evidence.push_back(
        fmt::format("blocks for fewer than 75 % of the multiprocessors, or few threads for under 5 us, during {}; {} "
                    "of multiprocessor time "
                    "had no block",
                    ns(underfilled), ns(look.shares().unfilled)));
    name_examples(look, part, finding);
    finding.remedy =
        "Give each kernel more work: larger batches, fused layers, grouped or batched GEMMs, split-K or stream-K for "
        "skinny GEMMs, several streams "
        "or processes (MPS) for independent work.";
    finding.confidence = Weight::high;
    finding.would_change_if = "other kernels ran at the same time on other streams";
    look.add(std::move(finding));
}

void look_for_layout_changes(Case& look) {
    Part part = [](const KernelGroup& group) {
        bool strided_copy = group.traits.kind == KernelClass::copy_cast && group.traits.strided;
        return group.traits.kind == KernelClass::layout || strided_copy ? group.total_ns : 0;
    };
    DurNs cost = busy_part(look, part);
    if (look.shares().effective_pct(cost) < kWorthSaying) return;
    Finding finding;
    finding.id = "layout-conversion";
    finding.cost_ns = cost;
    finding.title =
        fmt::format("Changing the layout of data takes {} % of the time", readable_percent(look.shares().pct(cost)));
    name_examples(look, part, finding);
    finding.remedy =
        "Keep one layout from end to end: channels_last for convolutions (model and input "
        ".to(memory_format=torch.channels_last)), .contiguous() once "
        "instead of in every step, tile transposes in shared memory.";
    finding.confidence = Weight::high;
    finding.would_change_if = "the conversions were needed once and not per step";
    look.add(std::move(finding));
}

void look_for_low_occupancy(Case& look) {
    const KernelTable& kernels = look.trace().kernel();
    if (kernels.registers.none_present() || look.trace().tables().device.rows == 0)
        return look.abstain("low-occupancy", "launch shapes or device limits were not recorded");
    // Matrix kernels hold their tiles in registers and shared memory; few warps are their design, not a fault. Underfilled
    // launches have too few blocks for occupancy to matter.
    std::vector<DurNs> low(look.kernels().size(), 0);
    std::vector<std::uint32_t> group_of(look.trace().strings().size(), kNoRow);
    for (std::uint32_t i = 0; i < look.kernels().size(); ++i)
        if (look.kernels()[i].name != kNoString) group_of[index_of(look.kernels()[i].name)] = i;
    std::vector<std::optional<Occupancy>> known(look.kernels().size());
    std::vector<Row> known_row(look.kernels().size(), kNoRow);
    for (Row row = 0; row < kernels.rows; ++row) {
        std::uint32_t group = kernels.name.has(row) ? group_of[index_of(kernels.name[row])] : kNoRow;
        if (group == kNoRow || is_matrix_product(look.kernels()[group]) ||
            look.kernels()[group].traits.kind == KernelClass::collective)
            continue;
        if (known_row[group] == kNoRow) {
            known[group] = occupancy_of(look.trace(), row);
            known_row[group] = row;
        }
        if (known[group] && known[group]->pct < 40) low[group] += kernels.dur[row];
    }
    auto part_at = [&](const KernelGroup& group) {
        std::uint32_t i = group.name == kNoString ? kNoRow : group_of[index_of(group.name)];
        return i == kNoRow ? 0 : std::max<DurNs>(0, low[i] - of_bound(group, Bound::underfilled));
    };
    DurNs cost = busy_part(look, part_at);
    if (look.shares().effective_pct(cost) < kWorthSaying) return;
    Finding finding;
    finding.id = "low-occupancy";
    finding.cost_ns = cost;
    finding.title = fmt::format("Kernels that keep under 40 % of the warps resident take {} % of the time",
                                readable_percent(look.shares().pct(cost)));
    name_examples(look, part_at, finding);
    finding.remedy =
        "Raise residency where the limiter (`kernels`: limiter) says: fewer registers (launch bounds, smaller tiles), "
        "less shared memory, another block size.";
    finding.confidence = Weight::low;
    finding.would_change_if = "the kernels hide latency otherwise (counters would show it)";
    look.add(std::move(finding));
}

void look_for_slow_convolutions(Case& look) {
    Part part = [](const KernelGroup& group) {
        return group.traits.kind == KernelClass::convolution ? group.total_ns : 0;
    };
    DurNs cost = busy_part(look, part);
    if (look.shares().effective_pct(cost) < 10) return;
    Part improvable = [](const KernelGroup& group) {
        bool simt = group.traits.math.unit == MathUnit::simt, tf32 = group.traits.math.type == MathType::tf32;
        bool slow_algorithm =
            group.traits.conv == ConvAlgorithm::explicit_gemm || group.traits.conv == ConvAlgorithm::direct;
        return group.traits.kind == KernelClass::convolution && (simt || tf32 || slow_algorithm) ? group.total_ns : 0;
    };
    DurNs could = busy_part(look, improvable);
    if (2 * could < cost) return;
    Finding finding;
    finding.id = "slow-convolution";
    finding.cost_ns = could;
    finding.title =
        fmt::format("Convolutions take {} % of the time, most of them in FP32 or TF32 or by a slow algorithm",
                    readable_percent(look.shares().pct(cost)));
    name_examples(look, improvable, finding);
    finding.remedy =
        "Mixed precision (autocast to bf16/fp16), channels_last, torch.backends.cudnn.benchmark=True so that the "
        "algorithm is measured for these shapes.";
    finding.confidence = Weight::medium;
    finding.would_change_if = "accuracy forbids lower precision";
    look.add(std::move(finding));
}

void look_for_unused_tensor_cores(Case& look) {
    Part part = [](const KernelGroup& group) {
        bool product = group.traits.kind == KernelClass::gemm || group.traits.kind == KernelClass::convolution ||
                       group.traits.kind == KernelClass::attention;
        return product && group.traits.math.unit == MathUnit::simt && group.traits.math.type == MathType::fp32
                   ? group.total_ns
                   : 0;
    };
    DurNs cost = busy_part(look, part);
    if (!has_tensor_cores(look.trace()) || look.shares().effective_pct(cost) < kWorthSaying) return;
    Finding finding;
    finding.id = "no-tensor-cores";
    finding.cost_ns = cost;
    finding.title = fmt::format("FP32 matrix products without tensor cores take {} % of the time",
                                readable_percent(look.shares().pct(cost)));
    name_examples(look, part, finding);
    finding.remedy =
        "Let tensor cores do it: torch.set_float32_matmul_precision('high') (TF32), or autocast to bf16/fp16; shapes "
        "in multiples of 8 (16 bytes).";
    finding.confidence = Weight::high;
    finding.would_change_if = "the result needs full FP32 precision";
    look.add(std::move(finding));
}

void look_for_throttling(Case& look) {
    look.abstain("throttling", "clocks and throttle reasons were not recorded; run `gpu-profile -- CMD` beside it");
}

void look_for_profiler_cost(Case& look) {
    const Distortion& distortion = look.distortion();
    if (!distortion.distorted()) return;
    Finding finding;
    finding.id = "profiler-cost";
    finding.cost_ns = std::min(distortion.idle_in_overhead + distortion.explained_ns, look.shares().window);
    finding.title = fmt::format("The profiler itself made up to {} of the idle time", ns(finding.cost_ns));
    if (distortion.idle_in_overhead > 0)
        finding.evidence.push_back(fmt::format("{} of idle time lies inside the profiler's own overhead records",
                                               ns(distortion.idle_in_overhead)));
    if (distortion.host_doubtful)
        finding.evidence.push_back(
            fmt::format("{} host records on the submitting threads, each costing the host 2 us or more, against {} of "
                        "waiting for launches and "
                        "host code",
                        readable_count(static_cast<std::int64_t>(distortion.records)), ns(distortion.host_idle)));
    finding.remedy =
        "Do not optimise these gaps yet: record once with less (CUDA activities only, no stacks or shapes) or with a "
        "lighter recorder, and compare the step time "
        "with that of an unprofiled run.";
    finding.confidence = Weight::medium;
    finding.would_change_if = "an unprofiled run took as long per step as this recording";
    look.add(std::move(finding));
}

}  // namespace gpuprof
