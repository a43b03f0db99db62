#include "analyze/facts/kernels/op_rates.h"

#include "analyze/facts/facts.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/facts/host/op_tree.h"
#include "analyze/knowledge/device_peaks.h"
#include "analyze/knowledge/kernel_class.h"
#include "analyze/knowledge/operators/op_arithmetic.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {
namespace {

// Below this share of either peak, an operator is limited by something else (launch, latency, too little work), and its
// arithmetic intensity does not show what.
constexpr double kMinPeakPct = 25;

MathPath path_of(const KernelTraits& traits, MathType operands) {
    if (traits.math.unit != MathUnit::unknown) return traits.math;
    bool product = traits.kind == KernelClass::gemm || traits.kind == KernelClass::convolution ||
                   traits.kind == KernelClass::attention;
    if (!product) return {MathUnit::simt, MathType::fp32};  // pointwise work runs on CUDA cores, mostly in FP32
    return {operands == MathType::fp32 || operands == MathType::fp64 ? MathUnit::unknown : MathUnit::tensor, operands};
}

void add_shares_of_peak(const std::optional<DevicePeaks>& peaks, OpRate& rate) {
    if (!peaks || rate.device_ns <= 0) return;
    auto seconds = static_cast<double>(rate.device_ns) * 1e-9;
    if (std::optional<double> peak = peaks->tflops(rate.path); peak && rate.flops)
        rate.compute_pct = 100 * *rate.flops / seconds / (*peak * 1e12);
    if (peaks->memory_gb_per_s && rate.bytes)
        rate.bandwidth_pct = 100 * *rate.bytes / seconds / (*peaks->memory_gb_per_s * 1e9);
    double compute = rate.compute_pct.value_or(0), bandwidth = rate.bandwidth_pct.value_or(0);
    if (rate.nominal) compute = 0;  // accurate only within a small factor: enough to conclude memory, not compute
    if (std::max(compute, bandwidth) >= kMinPeakPct) rate.bound = compute > bandwidth ? Bound::compute : Bound::memory;
}

// Gathers the kernels of each operator call and the calls of each kind of operator.
class OpRateBuilder {
public:
    explicit OpRateBuilder(const Trace& trace) : trace_(trace), ops_(trace) {
        result.rate_of_kernel.resize(trace.kernel().rows, kNoRow);
    }

    void add(Row kernel) {
        const KernelTable& kernels = trace_.kernel();
        Row op = ops_.find(kernel);
        if (op == kNoRow || !trace_.op().input_dims.has(op)) return;
        std::uint32_t at = rate_of(op);
        OpRate& rate = result.rates[at];
        result.rate_of_kernel[kernel] = at;
        DurNs dur = kernels.dur[kernel];
        rate.device_ns += dur;
        device_ = kernels.device.value_or(kernel, -1);
        if (dur > longest_[at]) {
            longest_[at] = dur;
            rate.path = path_of(classify_kernel(trace_.text(kernels.name.value_or(kernel, kNoString))), operands_[at]);
        }
        if (counted_.size() < trace_.op().rows) counted_.resize(trace_.op().rows);
        if (counted_[op]) return;
        counted_[op] = true;
        ++rate.count;
    }
    void finish() {
        for (std::size_t i = 0; i < result.rates.size(); ++i) {
            OpRate& rate = result.rates[i];
            auto count = static_cast<double>(rate.count);
            if (rate.flops) *rate.flops *= count;
            if (rate.bytes) *rate.bytes *= count;
            add_shares_of_peak(peaks_of(trace_, device_), rate);
        }
        order();
    }
    OpRates result;

private:
    std::uint32_t rate_of(Row op) {
        const OpTable& ops = trace_.op();
        std::tuple key{index_of(ops.name.value_or(op, kNoString)), index_of(ops.input_dims[op]),
                       index_of(ops.input_types.value_or(op, kNoString)),
                       index_of(ops.concrete_inputs.value_or(op, kNoString))};
        auto [found, added] = rates_.try_emplace(key, static_cast<std::uint32_t>(result.rates.size()));
        if (!added) return found->second;
        Arithmetic one = op_arithmetic({trace_.text(ops.name.value_or(op, kNoString)), trace_.text(ops.input_dims[op]),
                                        trace_.text(ops.input_types.value_or(op, kNoString)),
                                        trace_.text(ops.concrete_inputs.value_or(op, kNoString))});
        OpRate rate;
        rate.name = ops.name.value_or(op, kNoString);
        rate.dims = ops.input_dims[op];
        rate.types = ops.input_types.value_or(op, kNoString);
        rate.flops = one.flops;
        rate.bytes = one.bytes;
        rate.nominal = one.nominal;
        result.rates.push_back(rate);
        operands_.push_back(one.type);
        longest_.push_back(-1);
        return found->second;
    }
    // Longest device time first; then remap the kernels' indexes.
    void order() {
        std::vector<std::uint32_t> by_time(result.rates.size()), place(result.rates.size());
        for (std::uint32_t i = 0; i < by_time.size(); ++i) by_time[i] = i;
        std::stable_sort(by_time.begin(), by_time.end(), [&](std::uint32_t a, std::uint32_t b) {
            return result.rates[a].device_ns > result.rates[b].device_ns;
        });
        std::vector<OpRate> sorted;
        for (std::uint32_t i = 0; i < by_time.size(); ++i) {
            place[by_time[i]] = i;
            sorted.push_back(result.rates[by_time[i]]);
        }
        result.rates = std::move(sorted);
        for (std::uint32_t& rate : result.rate_of_kernel)
            if (rate != kNoRow) rate = place[rate];
    }

    const Trace& trace_;
    OpOfKernel ops_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> rates_;
    std::vector<MathType> operands_;
    std::vector<DurNs> longest_;
    std::vector<bool> counted_;
    std::int32_t device_ = -1;
};

}  // namespace

DeviceQuery device_query(const Trace& trace, Row row) {
    const DeviceTable& devices = trace.tables().device;
    DeviceQuery query;
    query.name = trace.text(devices.name.value_or(row, kNoString));
    query.cc_major = devices.cc_major.value_or(row, 0);
    query.cc_minor = devices.cc_minor.value_or(row, 0);
    if (devices.sms.has(row)) query.num_sms = devices.sms[row];
    if (devices.memory_bytes.has(row)) query.total_memory_bytes = static_cast<std::uint64_t>(devices.memory_bytes[row]);
    if (devices.warp_size.has(row)) query.warp_size = devices.warp_size[row];
    return query;
}

std::optional<DevicePeaks> peaks_of(const Trace& trace, std::int32_t device) {
    const DeviceTable& devices = trace.tables().device;
    for (Row row = 0; row < devices.rows; ++row)
        if (devices.device[row] == device) return find_peaks(device_query(trace, row));
    return std::nullopt;
}

OpRates OpRates::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    std::int64_t only_device = facts.options().device;
    if (trace.op().input_dims.none_present()) return {};
    OpRateBuilder gathering(trace);
    for (Row row = 0; row < trace.kernel().rows; ++row)
        if (only_device < 0 || trace.kernel().device.value_or(row, -1) == only_device) gathering.add(row);
    gathering.finish();
    return std::move(gathering.result);
}

}  // namespace gpuprof::facts
