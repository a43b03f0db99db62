#include "analyze/facts/kernels/kernel_bound.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <unordered_map>

#include "analyze/facts/facts.h"
#include "analyze/facts/kernels/kernel_profile.h"
#include "analyze/facts/kernels/op_rates.h"
#include "analyze/facts/memory/managed_migrations.h"
#include "analyze/facts/name_groups.h"
#include "analyze/facts/steps/iterations.h"
#include "analyze/knowledge/device_peaks.h"
#include "analyze/knowledge/reuse.h"
#include "core/base/text/ascii.h"

namespace gpuprof::inline facts {
namespace {

// A launch with blocks for less than this share of the SMs leaves the device underfilled. Below 1, because persistent
// kernels often skip a few SMs on purpose.
constexpr double kFilled = 0.75;

// A kernel this short that occupies less than a quarter of the thread slots ends before it fills the device.
constexpr DurNs kShort = 5'000;
constexpr double kLowFillRatio = 0.25;

struct DeviceSize {
    std::int64_t multiprocessors = 0;  // 0 = unknown
    std::int64_t threads = 0;          // thread slots of the device
    std::int64_t threads_per_sm = 0;
};

DeviceSize size_of(const Trace& trace, std::int32_t device) {
    const DeviceTable& devices = trace.tables().device;
    for (Row row = 0; row < devices.rows; ++row) {
        if (devices.device[row] != device || !devices.sms.has(row)) continue;
        std::int64_t per_sm = devices.max_threads_per_sm.value_or(row, 2048);
        return {devices.sms[row], devices.sms[row] * per_sm, per_sm};
    }
    return {};
}

Bound by_reuse(Reuse reuse) {
    if (reuse == Reuse::high) return Bound::compute;
    return reuse == Reuse::low ? Bound::memory : Bound::unknown;
}

Bound by_name(const KernelTraits& traits, Reuse reuse) {
    switch (traits.kind) {
        case KernelClass::collective: return Bound::communication;
        case KernelClass::gemm:
        case KernelClass::convolution:
        case KernelClass::attention: return by_reuse(reuse);
        case KernelClass::gemv:
        case KernelClass::elementwise:
        case KernelClass::reduction:
        case KernelClass::normalization:
        case KernelClass::softmax:
        case KernelClass::pooling:
        case KernelClass::copy_cast:
        case KernelClass::layout:
        case KernelClass::memset_like:
        case KernelClass::optimizer:
        case KernelClass::embedding_index: return Bound::memory;
        case KernelClass::triton:
            if (traits.triton_kind == TritonKind::matmul_template) return by_reuse(reuse);
            if (traits.triton_kind == TritonKind::other || traits.triton_kind == TritonKind::none)
                return Bound::unknown;
            return Bound::memory;
        case KernelClass::sort_scan:
        case KernelClass::random:
        case KernelClass::other: return Bound::unknown;
    }
    return Bound::unknown;
}

// The launch of one kernel relative to the device it ran on.
struct Launch {
    std::optional<std::int64_t> blocks, threads;  // of the whole grid
    std::int64_t threads_per_block = 0;
};

Launch launch_shape(const KernelTable& kernels, Row row) {
    if (!kernels.grid_x.has(row) || !kernels.block_x.has(row)) return {};
    auto product = [](std::int64_t x, std::int64_t y, std::int64_t z) {
        return std::max<std::int64_t>(0, x) * std::max<std::int64_t>(0, y) * std::max<std::int64_t>(0, z);
    };
    std::int64_t blocks = product(kernels.grid_x[row], kernels.grid_y.value_or(row, 1), 1);
    std::int64_t depth = std::max<std::int64_t>(0, kernels.grid_z.value_or(row, 1));
    // Real grids are bounded by 2^31 x 2^16 x 2^16; values from a hostile file are not.
    if (depth > 0 && blocks > INT64_MAX / 2048 / depth) return {};
    blocks *= depth;
    std::int64_t threads =
        std::min<std::int64_t>(product(kernels.block_x[row], kernels.block_y.value_or(row, 1), 1), 1024) *
        std::clamp<std::int64_t>(kernels.block_z.value_or(row, 1), 0, 64);
    return {blocks, blocks * std::min<std::int64_t>(threads, 1024), threads};
}

double unfilled_share(const Launch& launch, const DeviceSize& device) {
    if (!launch.blocks || device.multiprocessors == 0 || *launch.blocks >= device.multiprocessors) return 0;
    return 1.0 - static_cast<double>(*launch.blocks) / static_cast<double>(device.multiprocessors);
}

bool underfills(const Launch& launch, DurNs dur, const DeviceSize& device, double filled) {
    if (!launch.blocks || device.multiprocessors == 0 || filled >= kFilled) return false;
    if (unfilled_share(launch, device) > 1.0 - kFilled) return true;
    return dur < kShort && static_cast<double>(*launch.threads) < kLowFillRatio * static_cast<double>(device.threads);
}

// `filled`: the share of the device that it and concurrent kernels had blocks for.
Bound judge(const KernelTable& kernels, Row row, Bound named, const DeviceSize& device, double filled,
            double& unfilled) {
    if (named == Bound::communication) return named;
    Launch launch = launch_shape(kernels, row);
    unfilled = std::min(unfilled_share(launch, device), 1.0 - filled);
    if (underfills(launch, kernels.dur[row], device, filled)) return Bound::underfilled;
    return named;
}

// The share of the device that concurrent kernels together have blocks for, as a mean over each kernel's own time.
// Filling is a joint property: eight streams of sixteen blocks each leave little empty.
class DeviceFill {
public:
    explicit DeviceFill(const Trace& trace) : trace_(trace), kernels_(trace.kernel()) {
        if (!many_overlap()) return;
        of_.assign(kernels_.rows, 0);
        for (Row row = 0; row < kernels_.rows; ++row) begin(row);
        for (auto& [device, running] : devices_) end_until(running, INT64_MAX);
    }
    // 0 if no other kernel runs concurrently.
    double of(Row row) const { return of_.empty() ? 0 : of_[row]; }

private:
    struct Running {
        struct RunningKernel {
            TimeNs end;
            Row row;
            double fill, before;  // `before`: filled time of the device when the kernel began
            bool operator>(const RunningKernel& other) const { return end > other.end; }
        };
        DeviceSize size;
        std::priority_queue<RunningKernel, std::vector<RunningKernel>, std::greater<>> ops;
        TimeNs at = 0;
        double fill = 0, filled_time = 0;

        void advance(TimeNs to) {
            filled_time += std::min(1.0, fill) * static_cast<double>(to - at);
            at = to;
        }
    };
    // Consecutive kernels of one stream may overlap slightly in the record; this does not count as filling.
    bool many_overlap() const {
        std::unordered_map<std::int32_t, Row> latest;
        std::size_t overlapping = 0;
        for (Row row = 0; row < kernels_.rows; ++row) {
            auto [last, first] = latest.try_emplace(kernels_.device.value_or(row, -1), row);
            if (first) continue;
            bool overlaps = end_of(last->second) > kernels_.start[row] &&
                            kernels_.stream.value_or(last->second, -1) != kernels_.stream.value_or(row, -1);
            overlapping += overlaps;
            if (end_of(last->second) < end_of(row)) last->second = row;
        }
        return overlapping * 100 > kernels_.rows;
    }
    TimeNs end_of(Row row) const { return kernels_.start[row] + kernels_.dur[row]; }

    void begin(Row row) {
        std::int32_t device = kernels_.device.value_or(row, -1);
        auto [found, first] = devices_.try_emplace(device);
        Running& running = found->second;
        if (first) {
            running.size = size_of(trace_, device);
            running.at = kernels_.start[row];
        }
        end_until(running, kernels_.start[row]);
        running.advance(kernels_.start[row]);
        double fill = 1 - unfilled_share(launch_shape(kernels_, row), running.size);
        running.ops.push({end_of(row), row, fill, running.filled_time});
        running.fill += fill;
    }
    void end_until(Running& running, TimeNs until) {
        while (!running.ops.empty() && running.ops.top().end <= until) {
            auto [end, row, fill, before] = running.ops.top();
            running.ops.pop();
            running.advance(end);
            running.fill -= fill;
            if (kernels_.dur[row] > 0)
                of_[row] = static_cast<float>((running.filled_time - before) / static_cast<double>(kernels_.dur[row]));
        }
    }

    const Trace& trace_;
    const KernelTable& kernels_;
    std::unordered_map<std::int32_t, Running> devices_;
    std::vector<float> of_;
};

const OpRate* rate_of(const OpRates& rates, Row kernel) {
    if (rates.rate_of_kernel.empty() || rates.rate_of_kernel[kernel] == kNoRow) return nullptr;
    return &rates.rates[rates.rate_of_kernel[kernel]];
}

// By measured group: what its counters say; absent if they name no resource.
std::vector<std::optional<Bound>> measured_bounds(const Facts& facts) {
    std::vector<std::optional<Bound>> bounds;
    for (const KernelProfile& profile : facts.get<KernelProfiles>().profiles) {
        std::optional<Bound>& bound = bounds.emplace_back();
        if (profile.memory_bound()) bound = Bound::memory;
        if (profile.limit == KernelLimit::compute) bound = Bound::compute;
    }
    return bounds;
}

// Bytes of one weight, by the kernel's name; the least that is in use if it does not say.
double weight_bytes(std::string_view name) {
    if (contains_any(name, {"fp4", "int4", "u4", "Marlin", "marlin", "awq", "gptq", "w4", "_Float4", "e2m1"}))
        return 0.5;
    if (contains_any(name, {"fp8", "f8", "F8", "e4m3", "e5m2", "int8", "_i8", "s8"})) return 1;
    if (contains_any(name, {"bf16", "BBS", "HHS", "fp16", "f16", "half", "bfloat", "_h16"})) return 2;
    return 0.5;
}

// What an engine step says of its products: all have a row for each token, so with weights of w bytes each of their bytes is used for at
// most 2 T / w operations. Below the device's ratio of peaks, moving them decides. So it does for attention of one token per
// request, unless the heads share one cache.
class ByBatch {
public:
    explicit ByBatch(const Facts& facts) : found_(facts.get<Iterations>()), trace_(facts.trace()) {
        const DeviceTable& devices = trace_.tables().device;
        for (Row row = 0; row < devices.rows && !found_.of_kernel.empty(); ++row) {
            std::optional<DevicePeaks> peaks = find_peaks(device_query(trace_, row));
            if (!peaks || !peaks->fp16 || !peaks->memory_gb_per_s) continue;
            double ridge = 1e3 * *peaks->fp16 / *peaks->memory_gb_per_s;
            ridge_ = ridge_ == 0 ? ridge : std::min(ridge_, ridge);
        }
    }
    bool moves_data(Row row, const KernelTraits& traits, std::string_view name) const {
        if (found_.of_kernel.empty() || found_.of_kernel[row] == kNoIteration) return false;
        const Iteration& it = found_.all[found_.of_kernel[row]];
        bool decodes = it.phase() == ServingPhase::decode;
        if (traits.kind == KernelClass::attention) return decodes && !contains_any(name, {"mla", "MLA"});
        bool product = traits.kind == KernelClass::gemm ||
                       (traits.kind == KernelClass::triton && traits.triton_kind == TritonKind::matmul_template);
        if (!product || !it.batch.tokens) return false;
        auto tokens = static_cast<double>(*it.batch.tokens);
        double rows = tokens + std::max(kPadding, tokens / kPadding);
        return 2 * rows / weight_bytes(name) < (ridge_ > 0 ? ridge_ : kLowRidge);
    }

private:
    static constexpr double kPadding = 8;    // rows, or a part of them, that captured sizes add
    static constexpr double kLowRidge = 70;  // FLOP/byte: below that of every GPU with tensor cores that runs servers
    const Iterations& found_;
    const Trace& trace_;
    double ridge_ = 0;
};

}  // namespace

KernelGroups KernelGroups::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    const KernelTable& kernels = trace.kernel();
    const OpRates& rates = facts.get<OpRates>();
    const KernelNames& names = facts.get<KernelNames>();
    std::vector<KernelGroup> by_group(names.groups.size());
    std::vector<Bound> named(by_group.size());
    for (std::size_t i = 0; i < by_group.size(); ++i) {
        by_group[i].name = names.groups.name(i);
        std::string_view name = trace.text(by_group[i].name);
        by_group[i].traits = classify_kernel(name);
        named[i] = by_name(by_group[i].traits, reuse_of(by_group[i].traits, name));
    }
    std::unordered_map<std::int32_t, DeviceSize> sizes;
    const DeviceSize* size = nullptr;  // of the last kernel's device
    std::int32_t size_device = 0;
    DeviceFill filling(trace);
    const ManagedMigrations& migrations = facts.get<ManagedMigrations>();
    const std::vector<std::uint32_t>& match = facts.get<MeasuredKernels>().match.shape_of;
    std::vector<std::optional<Bound>> measured = measured_bounds(facts);
    ByBatch by_batch(facts);
    PodVector<Bound> of_kernel;
    if (!facts.get<Iterations>().of_kernel.empty()) of_kernel.resize(kernels.rows, Bound::unknown);
    for (Row row = 0; row < kernels.rows; ++row) {
        std::uint32_t slot = names.groups.of(row);
        if (slot == NameGroups::kLeftOut) continue;
        KernelGroup& group = by_group[slot];
        if (std::int32_t device = kernels.device.value_or(row, -1); size == nullptr || device != size_device) {
            auto [known, first] = sizes.try_emplace(size_device = device);
            if (first) known->second = size_of(trace, device);
            size = &known->second;
        }
        double unfilled = 0;
        Bound bound = judge(kernels, row, named[slot], *size, filling.of(row), unfilled);
        DurNs dur = kernels.dur[row];
        if (bound != Bound::underfilled && by_batch.moves_data(row, group.traits, trace.text(group.name)))
            bound = Bound::memory;
        std::array<DurNs, kBounds>* judged_from = nullptr;
        if (const OpRate* rate = rate_of(rates, row); rate != nullptr && rate->bound && bound != Bound::communication) {
            bound = *rate->bound;
            judged_from = &group.by_shapes;
        }
        if (!match.empty() && match[row] != CounterMatch::kNone && measured[match[row]]) {
            bound = *measured[match[row]];
            judged_from = &group.by_counters;
        }
        // Counters come from replays of the kernel, in which its pages are there.
        if (migrations.limits(row) && bound != Bound::communication) {
            bound = Bound::migration;
            judged_from = nullptr;
        }
        if (judged_from != nullptr) (*judged_from)[static_cast<std::size_t>(bound)] += dur;
        if (!of_kernel.empty()) of_kernel[row] = bound;
        ++group.count;
        group.total_ns += dur;
        group.by_bound[static_cast<std::size_t>(bound)] += dur;
        group.unfilled_ns += static_cast<DurNs>(unfilled * static_cast<double>(dur));
    }
    std::vector<KernelGroup> groups;
    for (std::uint32_t group : names.order) groups.push_back(by_group[group]);
    return {std::move(groups), std::move(of_kernel)};
}

}  // namespace gpuprof::facts
