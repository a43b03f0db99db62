#include "ranks/reduce/kernel_calls.h"

#include <algorithm>
#include <string>

#include "core/model/build/submission.h"
#include "ranks/reduce/batched_calls.h"
#include "ranks/reduce/group_id.h"

namespace gpuprof::inline ranks {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

// A call with both ends or none does not say which of them is the other rank.
bool names_other_rank(const CollectiveTable& table, Row row) {
    return table.src_rank.has(row) != table.dst_rank.has(row);
}

std::optional<std::string> group_of(const Trace& trace, Row row) {
    std::optional<GroupKey> key = group_key(trace, row);
    return key ? std::optional(key->text) : std::nullopt;
}

}  // namespace

CallsOfKernels::CallsOfKernels(const Trace& trace)
    : trace_(trace), records_(trace), batches_(batched_calls(trace, records_)) {}

bool CallsOfKernels::is_in_graph(Row kernel) const {
    if (trace_.kernel().graph_id.has(kernel)) return true;
    Row call = trace_.links().kernel_launch[kernel];
    const ApiCallTable& calls = trace_.api_call();
    return call != kNoRow && calls.name.has(call) && submission_of(trace_.text(calls.name[call])) == Submission::graph;
}

KernelCalls CallsOfKernels::of(Row kernel) const {
    if (is_in_graph(kernel)) return {.undescribed = Undescribed::in_graph};
    std::vector<Row> calls;
    if (Row record = records_.find(kernel); record != kNoRow) {
        calls.push_back(record);
        for (Row other : records_.others(record)) calls.push_back(other);
    } else if (auto batch = batches_.find(trace_.links().kernel_launch[kernel]); batch != batches_.end()) {
        calls = batch->second;
    }
    KernelCalls found = described(calls);
    const KernelTable& kernels = trace_.kernel();
    std::optional<CollectiveKernel> named = parse_collective(trace_.text(kernels.name.value_or(kernel, kNoString)));
    bool other = calls.size() > 1 && named && named->kind != CollectiveKind::unknown && found.record != kNoRow &&
                 found.message.kind != named->kind;
    return other ? KernelCalls{.undescribed = Undescribed::no_record} : found;
}

// Several calls belong together if they are of one group and kind, and, if they send or receive, each with one rank.
KernelCalls CallsOfKernels::described(const std::vector<Row>& calls) const {
    if (calls.empty()) return {.undescribed = Undescribed::no_record};
    KernelCalls found{.record = calls.front(), .message = message_of(trace_, calls.front())};
    if (calls.size() == 1) return found;
    std::optional<std::string> group = group_of(trace_, calls.front());
    bool transfers = false, together = group.has_value();
    std::int64_t bytes = 0;
    for (Row call : calls) {
        CollectiveMessage message = message_of(trace_, call);
        bool transfer = message.kind == CollectiveKind::send_recv;
        transfers |= transfer;
        together &= message.kind == found.message.kind && group_of(trace_, call) == group &&
                    (!transfer || names_other_rank(trace_.tables().collective, call));
        bool known = message.bytes && *message.bytes <= kMostBytes - bytes;
        bytes = known && bytes >= 0 ? bytes + *message.bytes : -1;
    }
    if (!together) return {.undescribed = transfers ? Undescribed::several_transfers : Undescribed::no_record};
    found.message.bytes = bytes >= 0 ? std::optional(bytes) : std::nullopt;
    if (transfers) found.batch = calls;
    return found;
}

}  // namespace gpuprof::ranks
