#include "ranks/reduce/kernel_calls.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyze/facts/host/collective_records.h"
#include "analyze/knowledge/collective_name.h"
#include "core/model/build/submission.h"
#include "ranks/reduce/group_id.h"

namespace gpuprof::inline ranks {
namespace {

// The calls of batches whose records name no kernel.

struct Record {
    Row row;  // of table collective
    TimeNs start, end;
};

struct BatchLaunch {
    Row call;
    TimeNs start;
    bool of_collective;  // that has no record
};

// What one thread did.
struct Thread {
    std::vector<Record> records;
    std::vector<BatchLaunch> launches;

    // A launch within a record is that of its call. Any other one takes the records before it, or, if it is no
    // collective's, shows that they had no kernel: they were captured into a graph.
    void find_batches(std::unordered_map<Row, std::vector<Row>>& batches) {
        auto by_start = [](const auto& a, const auto& b) { return a.start < b.start; };
        std::stable_sort(records.begin(), records.end(), by_start);
        std::stable_sort(launches.begin(), launches.end(), by_start);
        std::vector<Record> pending;
        Row last = kNoRow;  // the launch before, if it took records
        auto record = records.begin();
        for (const BatchLaunch& launch : launches) {
            for (; record != records.end() && record->start <= launch.start; ++record) pending.push_back(*record);
            if (!pending.empty() && launch.start <= pending.back().end) {
                pending.pop_back();
                last = kNoRow;
                continue;
            }
            // A batch of several kernels: none of them has all calls.
            if (launch.of_collective && pending.empty() && last != kNoRow) batches.erase(last);
            last = kNoRow;
            if (launch.of_collective && !pending.empty()) {
                last = launch.call;
                for (const Record& each : pending) batches[launch.call].push_back(each.row);
            }
            pending.clear();
        }
    }
};

using Threads = std::map<StringId, Thread>;

// Records on the host that no device-side record repeats, as ops with the same id.
Threads threads_with_records(const Trace& trace) {
    const CollectiveTable& table = trace.tables().collective;
    std::map<StringId, std::unordered_map<std::int64_t, Row>> by_external;  // by process
    for (Row row = 0; row < table.rows; ++row)
        if (!table.correlation.has(row) && table.external_id.has(row) &&
            collective_kind(trace.text(table.name.value_or(row, kNoString))) != CollectiveKind::unknown)
            by_external[table.process.value_or(row, kNoString)].try_emplace(table.external_id[row], row);
    Threads threads;
    if (by_external.empty()) return threads;
    std::map<StringId, StringId> process_of;  // by thread
    const ThreadTable& known = trace.tables().thread;
    for (Row row = 0; row < known.rows; ++row)
        if (known.key.has(row)) process_of[known.key[row]] = known.process.value_or(row, kNoString);
    const OpTable& ops = trace.op();
    for (Row row = 0; row < ops.rows; ++row) {
        if (!ops.thread.has(row) || !ops.external_id.has(row)) continue;
        auto process = process_of.find(ops.thread[row]);
        if (process == process_of.end()) continue;
        auto records = by_external.find(process->second);
        if (records == by_external.end()) continue;
        if (auto record = records->second.find(ops.external_id[row]); record != records->second.end())
            threads[ops.thread[row]].records.push_back({record->second, ops.start[row], ops.start[row] + ops.dur[row]});
    }
    return threads;
}

// Of kernels without a record of their own.
std::unordered_set<Row> launches_of_collectives(const Trace& trace, const CollectiveRecords& records) {
    const KernelTable& kernels = trace.kernel();
    std::unordered_map<StringId, bool> collective;
    std::unordered_set<Row> launches;
    for (Row row = 0; row < kernels.rows; ++row) {
        Row call = trace.links().kernel_launch[row];
        if (call == kNoRow || !kernels.name.has(row)) continue;
        auto [known, fresh] = collective.try_emplace(kernels.name[row], false);
        if (fresh) known->second = parse_collective(trace.text(kernels.name[row])).has_value();
        if (known->second && records.find(row) == kNoRow) launches.insert(call);
    }
    return launches;
}

// Rows of table collective by the row of the api_call that launched their kernel.
std::unordered_map<Row, std::vector<Row>> batched_calls(const Trace& trace, const CollectiveRecords& records) {
    std::unordered_map<Row, std::vector<Row>> batches;
    Threads threads = threads_with_records(trace);
    if (threads.empty()) return batches;
    std::unordered_set<Row> of_collectives = launches_of_collectives(trace, records);
    std::unordered_map<StringId, bool> submits;  // by name
    const ApiCallTable& calls = trace.api_call();
    for (Row row = 0; row < calls.rows; ++row) {
        auto thread = threads.find(calls.thread.value_or(row, kNoString));
        if (thread == threads.end() || !calls.name.has(row)) continue;
        auto [known, fresh] = submits.try_emplace(calls.name[row], false);
        if (fresh) {
            Submission what = submission_of(trace.text(calls.name[row]));
            known->second = what == Submission::kernel || what == Submission::graph;
        }
        if (known->second) thread->second.launches.push_back({row, calls.start[row], of_collectives.contains(row)});
    }
    for (auto& [key, thread] : threads) thread.find_batches(batches);
    return batches;
}

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
