#include "analyze/facts/kernels/optimizer_updates.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "analyze/facts/facts.h"
#include "analyze/facts/practices.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {
namespace {

constexpr std::string_view kOptimizerRange =
    "Optimizer.step#";  // torch.profiler's, with the optimizer's class after it
// AdamW with foreach runs about 12 kernels per 60 tensors or so, one tensor at a time about 10 kernels per tensor.
constexpr std::size_t kMinKernelsPerUpdate = 60;

// The updates of each thread, by start.
std::map<StringId, std::vector<std::uint32_t>> add_updates(const Trace& trace, OptimizerUpdates& found) {
    std::map<StringId, std::vector<std::uint32_t>> by_thread;
    const RangeTable& ranges = trace.range();
    std::vector<std::int8_t> known(trace.strings().size(), -1);
    for (Row row = 0; row < ranges.rows; ++row) {
        if (!ranges.name.has(row)) continue;
        std::int8_t& is = known[index_of(ranges.name[row])];
        if (is < 0) is = trace.text(ranges.name[row]).starts_with(kOptimizerRange) ? 1 : 0;
        if (is == 0) continue;
        StringId thread = ranges.thread.value_or(row, kNoString);
        by_thread[thread].push_back(static_cast<std::uint32_t>(found.all.size()));
        found.all.push_back({thread, {ranges.start[row], ranges.start[row] + ranges.dur[row]}, {}, 0, kNoRow});
        if (!found.optimizer.empty()) continue;
        found.optimizer = trace.text(ranges.name[row]).substr(kOptimizerRange.size());
        found.optimizer = found.optimizer.substr(0, found.optimizer.rfind(".step"));
    }
    return by_thread;
}

}  // namespace

OptimizerUpdates OptimizerUpdates::make(const Facts& facts) {
    OptimizerUpdates found;
    const Trace& trace = facts.trace();
    const ApiCallTable& calls = trace.api_call();
    std::map<StringId, std::vector<std::uint32_t>> by_thread = add_updates(trace, found);
    if (found.all.empty() || calls.rows == 0) return found;
    found.update_of_call.assign(calls.rows, kNoRow);
    for (Row call = 0; call < calls.rows; ++call) {
        auto updates = by_thread.find(calls.thread.value_or(call, kNoString));
        if (updates == by_thread.end()) continue;
        auto after =
            std::upper_bound(updates->second.begin(), updates->second.end(), calls.start[call],
                             [&](TimeNs time, std::uint32_t update) { return time < found.all[update].host.start; });
        if (after == updates->second.begin()) continue;
        OptimizerUpdate& update = found.all[*std::prev(after)];
        if (calls.start[call] >= update.host.end) continue;
        found.update_of_call[call] = *std::prev(after);
        if (update.first_call == kNoRow || calls.start[call] < calls.start[update.first_call]) update.first_call = call;
    }
    const KernelTable& kernels = trace.kernel();
    std::size_t with_kernels = 0, count = 0;
    for (Row row = 0; row < kernels.rows; ++row) {
        std::uint32_t at = found.of_call(trace.links().kernel_launch[row]);
        if (at == kNoRow) continue;
        OptimizerUpdate& update = found.all[at];
        Interval span{kernels.start[row], kernels.start[row] + kernels.dur[row]};
        with_kernels += update.kernels == 0;
        ++count;
        update.device = update.kernels++ == 0 ? span
                                              : Interval{std::min(update.device.start, span.start),
                                                         std::max(update.device.end, span.end)};
    }
    found.by_tensor =
        with_kernels > 0 && count >= kMinKernelsPerUpdate * with_kernels && !facts.get<Practices>().foreach_optimizer;
    return found;
}

}  // namespace gpuprof::facts
