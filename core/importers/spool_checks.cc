// What the decoder does when a process's rows are all there: the clocks are brought together, and what was submitted is
// compared with what was executed.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "core/base/readable.h"
#include "core/importers/spool.h"
#include "core/schema/facts.h"

namespace gpuprof {
namespace {

// A call that submits one kernel, unless its stream is being captured into a graph.
bool launches_kernel(std::string_view call) {
    return call.substr(0, 16) == "cudaLaunchKernel" || call.substr(0, 14) == "cuLaunchKernel" ||
           call.substr(0, 27) == "cudaLaunchCooperativeKernel" || call.substr(0, 25) == "cuLaunchCooperativeKernel";
}

// The error of a device's clock in words: what is left between its bounds.
std::string stated(const DeviceClock& clock) {
    DurNs moved = clock.move();
    std::string text = fmt::format("device {}: {}", clock.device,
                                   moved == 0 ? "as recorded" : fmt::format("{} by {} ns", fact::kClockMoved, moved));
    if (!clock.least || !clock.most) return text + ", error not bounded on both sides";
    if (*clock.least > *clock.most)
        return text + fmt::format(", error up to {} ns: its clock drifts", (*clock.least - *clock.most) / 2 + 1);
    return text + fmt::format(", error from {} to {} ns", *clock.least - moved, *clock.most - moved);
}

}  // namespace

void SpoolDecoder::settle_clocks() {
    if (std::optional<DurNs> offset = cupti_offset(clocks_)) move_cupti_times(batch_.tables, first_, *offset);
    if (DurNs step = clock_step(clocks_); step != 0)
        batch_.lose(Loss::clock_stepped, fmt::format("{}: by {} ns", process_, step));
    for (const DeviceClock& clock : device_clocks(batch_, first_)) {
        if (clock.move() != 0) move_device(batch_.tables, first_, clock);
        MetaTable& table = batch_.tables.meta;
        Row row = table.add();
        table.key.set(row, batch_.intern(fact::kDeviceClock));
        table.value.set(row, batch_.intern(stated(clock)));
    }
}

// Launches = kernels + captured + missing. What was captured into a graph runs when the graph is launched.
void SpoolDecoder::check_launches() {
    const ApiCallTable& calls = batch_.tables.api_call;
    const KernelTable& kernels = batch_.tables.kernel;
    std::unordered_set<std::int64_t> executed = counted_kernels_;
    for (Row row = first_.kernel; row < kernels.rows; ++row) executed.insert(kernels.correlation[row]);
    std::vector<Row> in_order;
    for (Row row = first_.api_call; row < calls.rows; ++row) in_order.push_back(row);
    std::sort(in_order.begin(), in_order.end(), [&](Row a, Row b) { return calls.start[a] < calls.start[b]; });
    std::map<StringId, int> capturing;  // by thread
    std::uint64_t missing = 0;
    for (Row row : in_order) {
        std::string_view name = batch_.strings[calls.name[row]];
        if (name.find("StreamBeginCapture") != std::string_view::npos) ++capturing[calls.thread[row]];
        if (name.find("StreamEndCapture") != std::string_view::npos) --capturing[calls.thread[row]];
        bool captured = capturing[calls.thread[row]] > 0;
        missing += launches_kernel(name) && !captured && executed.count(calls.correlation[row]) == 0;
    }
    if (missing > 0) batch_.lose(Loss::launch_without_kernel, fmt::format("process {}", process_), missing);
    if (whole_graphs_ > 0) batch_.lose(Loss::whole_graph, fmt::format("process {}", process_), whole_graphs_);
    for (auto [event, correlation] : allocations_) name_allocator(event, correlation);
}

// An allocation has no thread of its own; the call that made it has.
void SpoolDecoder::name_allocator(Row event, std::uint32_t correlation) {
    const ApiCallTable& calls = batch_.tables.api_call;
    if (call_of_.empty())
        for (Row row = first_.api_call; row < calls.rows; ++row) call_of_.try_emplace(calls.correlation[row], row);
    if (auto call = call_of_.find(correlation); call != call_of_.end())
        batch_.tables.memory_event.thread.set(event, calls.thread[call->second]);
}

}  // namespace gpuprof
