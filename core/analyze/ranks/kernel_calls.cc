#include "core/analyze/ranks/kernel_calls.h"

#include <algorithm>
#include <string>

#include "core/analyze/ranks/batched_calls.h"
#include "core/analyze/ranks/group_id.h"
#include "core/model/submission.h"

namespace gpuprof {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

// The rank at the other end, and whether this one sends. A call with both ends or none says neither.
struct End {
    std::int32_t rank;
    bool sends;
};
std::optional<End> end_of(const CollectiveTable& table, Row row) {
    if (table.src_rank.has(row) == table.dst_rank.has(row)) return std::nullopt;
    return table.dst_rank.has(row) ? End{table.dst_rank[row], true} : End{table.src_rank[row], false};
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

// Several calls are one collective if they are alike: of one group and kind, and, if they send or receive, each with one
// rank.
KernelCalls CallsOfKernels::described(const std::vector<Row>& calls) const {
    const CollectiveTable& table = trace_.tables().collective;
    if (calls.empty()) return {.undescribed = Undescribed::no_record};
    KernelCalls found{.record = calls.front(), .message = message_of(trace_, calls.front())};
    if (calls.size() == 1) return found;
    std::optional<std::string> group = group_of(trace_, calls.front());
    bool transfers = false, alike = true, sends = false, receives = false, one_rank = true;
    std::optional<End> first = end_of(table, calls.front());
    std::int64_t bytes = 0;
    for (Row call : calls) {
        CollectiveMessage message = message_of(trace_, call);
        std::optional<End> end = end_of(table, call);
        bool transfer = message.kind == CollectiveKind::send_recv;
        transfers |= transfer;
        alike &= message.kind == found.message.kind && group && group_of(trace_, call) == group;
        alike &= !transfer || end;
        one_rank &= first && end && end->rank == first->rank;
        if (transfer && end) (end->sends ? sends : receives) = true;
        bool known = message.bytes && *message.bytes <= kMostBytes - bytes;
        bytes = known && bytes >= 0 ? bytes + *message.bytes : -1;
    }
    if (!alike) return {.undescribed = transfers ? Undescribed::several_transfers : Undescribed::no_record};
    found.message.bytes = bytes >= 0 ? std::optional(bytes) : std::nullopt;
    if (!transfers) return found;
    found.batch = calls;
    if (!one_rank)
        found.exchange = Exchange::with_several;
    else if (sends && receives)
        found.exchange = Exchange::both_ways;
    return found;
}

}  // namespace gpuprof
