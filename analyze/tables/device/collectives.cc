// `collectives`: how fast did ranks exchange data, and was it hidden? One row per collective and message size, over the
// device's collective kernels; and over records of collectives without a kernel that have a measured duration (NCCL Inspector, MPI).
// bytes is the message size as the NCCL tests define it: the larger of a rank's input and output. It comes from the
// communication library's record with the kernel's correlation id or external id; without such a record it is absent.
// alg_gb_per_s = bytes over time; bus_gb_per_s = alg_gb_per_s times the collective's traffic factor for its number of
// ranks (nccl-tests, doc/PERFORMANCE.md): the load on the links, comparable across numbers of ranks. The time of a
// collective includes waiting for the slowest rank, so another rank may be responsible for a low rate.
#include <algorithm>
#include <map>

#include "analyze/facts/activity.h"
#include "analyze/facts/host/collective_records.h"
#include "analyze/facts/stat.h"
#include "analyze/knowledge/collective_name.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct Group {
    std::uint64_t count = 0;
    WideSum total;
    std::map<std::int32_t, Intervals> spans;  // by device
    Intervals host;                           // of calls that communicate without a kernel, as of MPI
};

using MessageKey = std::pair<std::string, CollectiveMessage>;  // displayed name; known properties of the message

MessageKey key_of(const Trace& trace, const CollectiveRecords& records, Row kernel) {
    Row record = records.find(kernel);
    CollectiveMessage message = record == kNoRow ? CollectiveMessage{} : message_of(trace, record);
    std::string_view name = trace.text(trace.kernel().name.value_or(kernel, kNoString));
    std::optional<CollectiveKernel> parsed = parse_collective(name);
    if (message.kind == CollectiveKind::unknown && parsed) message.kind = parsed->kind;
    return {std::string(message.kind == CollectiveKind::unknown ? name : to_string(message.kind)), message};
}

std::map<MessageKey, Group> gather_messages(const Trace& trace, std::int64_t only_device) {
    std::map<MessageKey, Group> groups;
    CollectiveRecords records(trace);
    const KernelTable& table = trace.kernel();
    std::vector<signed char> collective(trace.strings().size(), -1);  // by name; -1: not looked up yet
    for (Row row = 0; row < table.rows; ++row) {
        std::int32_t device = table.device.value_or(row, -1);
        if (!table.name.has(row) || (only_device >= 0 && device != only_device)) continue;
        signed char& known = collective[index_of(table.name[row])];
        if (known < 0) known = is_collective_kernel(trace.text(table.name[row]));
        if (known == 0) continue;
        Group& to = groups[key_of(trace, records, row)];
        ++to.count;
        to.total.add(table.dur[row]);
        to.spans[device].push_back({table.start[row], table.start[row] + table.dur[row]});
    }
    return groups;
}

// Records of collectives with a measured duration and without a kernel, as of NCCL Inspector.
void gather_records(const Trace& trace, std::map<MessageKey, Group>& groups) {
    const CollectiveTable& table = trace.tables().collective;
    for (Row row = 0; row < table.rows; ++row) {
        if (!table.exec_time.has(row) || table.correlation.has(row)) continue;
        CollectiveMessage message = message_of(trace, row);
        std::string_view name = message.kind == CollectiveKind::unknown
                                    ? trace.text(table.name.value_or(row, kNoString))
                                    : to_string(message.kind);
        Group& to = groups[{std::string(name), message}];
        ++to.count;
        to.total.add(table.exec_time[row]);
        if (table.started_time.has(row) && table.ended_time.has(row))
            to.host.push_back({table.started_time[row], table.ended_time[row]});
    }
}

// Time with one of the group's kernels but no compute kernel in flight.
WideSum exposed(const Facts& facts, const Group& group) {
    WideSum sum;
    for (const DeviceActivity& device : facts.get<Activity>().devices)
        if (auto spans = group.spans.find(device.device); spans != group.spans.end())
            sum.add(length(subtract(unite(spans->second), device.compute())));
    if (group.host.empty()) return sum;
    IntervalSet busy;
    for (const DeviceActivity& device : facts.get<Activity>().devices) busy = unite(busy, device.busy);
    sum.add(length(subtract(unite(group.host), busy)));
    return sum;
}

// From nccl-tests, doc/PERFORMANCE.md; absent when the number of ranks is needed but unknown.
std::optional<double> bus_factor(const CollectiveMessage& message) {
    auto per_rank = [&](double times) -> std::optional<double> {
        if (!message.ranks) return {};
        auto ranks = static_cast<double>(*message.ranks);
        return times * (ranks - 1) / ranks;
    };
    switch (message.kind) {
        case CollectiveKind::all_reduce: return per_rank(2);
        case CollectiveKind::all_gather:
        case CollectiveKind::reduce_scatter:
        case CollectiveKind::all_to_all: return per_rank(1);
        case CollectiveKind::broadcast:
        case CollectiveKind::reduce:
        case CollectiveKind::send_recv: return 1.0;
        case CollectiveKind::unknown: return {};
    }
    return {};
}

struct CollectivesRow {
    const Facts& facts;
    const std::string& name;
    const CollectiveMessage& message;
    const Group& group;
    std::optional<double> rate() const {
        if (!message.bytes || group.total.real() <= 0) return {};
        return static_cast<double>(*message.bytes) * static_cast<double>(group.count) / group.total.real();
    }
    std::optional<double> bus_rate() const {
        std::optional<double> algorithm = rate(), factor = bus_factor(message);
        if (!algorithm || !factor) return {};
        return *algorithm * *factor;
    }
};

constexpr auto kCollectivesColumns = columns_of<CollectivesRow>({
    {"name", CellType::text, Unit::none, "Name of the collective; the kernel name if the collective is unknown.",
     [](auto& r) { return text_cell(r.name); }},
    {"count", CellType::integer, Unit::count, "Number of kernels, or of records without one.",
     [](auto& r) { return r.group.count; }},
    {"bytes", CellType::integer, Unit::bytes, "Message size; absent when not recorded.",
     [](auto& r) { return r.message.bytes; }},
    {"total_ns", CellType::integer, Unit::ns, "Sum of the durations, including waits for other ranks.",
     [](auto& r) { return r.group.total.value(); }},
    {"mean_ns", CellType::real, Unit::ns, "Mean duration.", [](auto& r) { return r.group.total.over(r.group.count); }},
    {"alg_gb_per_s", CellType::real, Unit::gb_per_s, "Algorithm bandwidth: bytes x count over total_ns.",
     [](auto& r) { return r.rate(); }},
    {"bus_gb_per_s", CellType::real, Unit::gb_per_s,
     "Bus bandwidth: alg_gb_per_s times the collective's traffic factor (nccl-tests).",
     [](auto& r) { return r.bus_rate(); }},
    {"exposed_ns", CellType::integer, Unit::ns,
     "Time with no other kernel in flight, summed over devices; of calls of MPI, time with no device work in flight. "
     "Absent without either.",
     [](auto& r) {
         bool known =
             !r.group.spans.empty() || (!r.group.host.empty() && !r.facts.template get<Activity>().devices.empty());
         return known ? integer(exposed(r.facts, r.group).value()) : kAbsent;
     }},
});

Result<ResultTable> collectives_table(const Facts& facts) {
    std::map<MessageKey, Group> groups = gather_messages(facts.trace(), facts.options().device);
    gather_records(facts.trace(), groups);
    std::vector<std::pair<const MessageKey, Group>*> order;
    bool sizes_known = true;
    for (auto& entry : groups) {
        order.push_back(&entry);
        sizes_known &= entry.first.second.bytes.has_value();
    }
    std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->second.total > b->second.total; });
    ResultTable table("collectives", kCollectivesColumns);
    table.handle_prefix = "c";
    for (auto* entry : order)
        table.add(kCollectivesColumns, {facts, entry->first.first, entry->first.second, entry->second});
    if (!sizes_known)
        table.notes.push_back(
            "Rates are absent where the message size was not recorded; newer PyTorch versions record it.");
    return table;
}

}  // namespace

const Analysis kCollectives{"collectives", "nccl_sum",
                            "Per collective and message size: time, bandwidth, exposed time.", kCollectivesColumns,
                            collectives_table};

}  // namespace gpuprof::tables
