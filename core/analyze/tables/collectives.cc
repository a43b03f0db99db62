// `collectives`: how fast did ranks exchange data, and was it hidden? One row per collective and message size, over the
// device's collective kernels.
// bytes is the message size as the NCCL tests define it: the larger of a rank's input and output. It comes from the
// communication library's record with the kernel's correlation id or external id; without such a record it is absent.
// alg_gb_per_s = bytes over time; bus_gb_per_s = alg_gb_per_s times the collective's traffic factor for its number of
// ranks (nccl-tests, doc/PERFORMANCE.md): the load on the links, comparable across numbers of ranks. The time of a
// collective includes waiting for the slowest rank, so another rank may be responsible for a low rate.
#include <algorithm>
#include <map>

#include "core/analyze/facts/activity.h"
#include "core/analyze/facts/id_map.h"
#include "core/analyze/facts/stat.h"
#include "core/analyze/knowledge/collective_name.h"
#include "core/analyze/tables/analysis_list.h"
#include "core/analyze/tables/cells.h"

namespace gpuprof {
namespace {

// Bytes per element, by the framework's type name (PyTorch's c10::ScalarType).
std::optional<std::int64_t> element_bytes(std::string_view type) {
    struct Size {
        std::string_view type;
        std::int64_t bytes;
    };
    constexpr Size kSizes[] = {{"Byte", 1},   {"Char", 1},        {"Bool", 1},         {"Short", 2},
                               {"Half", 2},   {"BFloat16", 2},    {"Int", 4},          {"Float", 4},
                               {"Long", 8},   {"Double", 8},      {"UInt16", 2},       {"UInt32", 4},
                               {"UInt64", 8}, {"ComplexHalf", 4}, {"ComplexFloat", 8}, {"ComplexDouble", 16}};
    if (type.starts_with("Float8")) return 1;
    for (const Size& size : kSizes)
        if (size.type == type) return size.bytes;
    return {};
}

// The message as described by the record of a collective.
struct Message {
    CollectiveKind kind = CollectiveKind::unknown;
    std::optional<std::int64_t> bytes, ranks;
    auto operator<=>(const Message&) const = default;
};

Message message_of(const Trace& trace, Row row) {
    const CollectiveTable& table = trace.tables().collective;
    Message message;
    message.kind = collective_kind(trace.text(table.name.value_or(row, kNoString)));
    if (table.group_size.has(row) && table.group_size[row] > 0) message.ranks = table.group_size[row];
    std::int64_t elements = std::max(table.in_elements.value_or(row, 0), table.out_elements.value_or(row, 0));
    std::optional<std::int64_t> size = element_bytes(trace.text(table.type.value_or(row, kNoString)));
    if (size && elements > 0 && elements <= INT64_MAX / *size) message.bytes = elements * *size;
    return message;
}

// The collective records of a trace, by the ids that link them to kernels.
class Records {
public:
    explicit Records(const Trace& trace)
        : trace_(trace), processes_(trace.tables().process.key, trace.strings().size()) {
        const CollectiveTable& table = trace.tables().collective;
        for (Row row = 0; row < table.rows; ++row) {
            // A host-side record of waiting for a collective has no message.
            if (collective_kind(trace.text(table.name.value_or(row, kNoString))) == CollectiveKind::unknown) continue;
            if (table.correlation.has(row)) {
                by_correlation_.try_emplace({process(table, row), table.correlation[row]}, row);
            } else if (table.external_id.has(row)) {
                by_external_.try_emplace({process(table, row), table.external_id[row]}, row);
            }
        }
    }
    Row find(Row kernel) const {
        const KernelTable& table = trace_.kernel();
        std::uint32_t own = process(table, kernel);
        for (std::uint32_t slot : {own, processes_.other()}) {
            if (table.correlation.has(kernel))
                if (auto found = by_correlation_.find({slot, table.correlation[kernel]});
                    found != by_correlation_.end())
                    return found->second;
            if (table.external_id.has(kernel))
                if (auto found = by_external_.find({slot, table.external_id[kernel]}); found != by_external_.end())
                    return found->second;
        }
        return kNoRow;
    }

private:
    using Key = std::pair<std::uint32_t, std::int64_t>;
    // Device-side records do not name their process.
    template <class Table>
    std::uint32_t process(const Table& table, Row row) const {
        if (trace_.tables().process.rows <= 1) return processes_.other();
        return processes_.of(table.process.value_or(row, kNoString));
    }
    const Trace& trace_;
    Slots processes_;
    std::map<Key, Row> by_correlation_, by_external_;
};

struct Group {
    std::uint64_t count = 0;
    WideSum total;
    std::map<std::int32_t, Intervals> spans;  // by device
};

using Key = std::pair<std::string, Message>;  // displayed name; known properties of the message

Key key_of(const Trace& trace, const Records& records, Row kernel) {
    Row record = records.find(kernel);
    Message message = record == kNoRow ? Message{} : message_of(trace, record);
    std::string_view name = trace.text(trace.kernel().name.value_or(kernel, kNoString));
    std::optional<CollectiveKernel> parsed = parse_collective(name);
    if (message.kind == CollectiveKind::unknown && parsed) message.kind = parsed->kind;
    return {std::string(message.kind == CollectiveKind::unknown ? name : to_string(message.kind)), message};
}

std::map<Key, Group> gather(const Trace& trace, std::int64_t only_device) {
    std::map<Key, Group> groups;
    Records records(trace);
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

// Time with one of the group's kernels but no compute kernel in flight.
WideSum exposed(const Facts& facts, const Group& group) {
    WideSum sum;
    for (const DeviceActivity& device : facts.get<Activity>().devices)
        if (auto spans = group.spans.find(device.device); spans != group.spans.end())
            sum.add(length(subtract(unite(spans->second), device.compute)));
    return sum;
}

// From nccl-tests, doc/PERFORMANCE.md; absent when the number of ranks is needed but unknown.
std::optional<double> bus_factor(const Message& message) {
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

constexpr ResultColumn kColumns[] = {
    {"name", CellType::text, Unit::none, "Name of the collective; the kernel name if the collective is unknown."},
    {"count", CellType::integer, Unit::count, "Number of kernels."},
    {"bytes", CellType::integer, Unit::bytes, "Message size; absent when not recorded."},
    {"total_ns", CellType::integer, Unit::ns, "Sum of the durations, including waits for other ranks."},
    {"mean_ns", CellType::real, Unit::ns, "Mean duration."},
    {"alg_gb_per_s", CellType::real, Unit::gb_per_s, "Algorithm bandwidth: bytes x count over total_ns."},
    {"bus_gb_per_s", CellType::real, Unit::gb_per_s,
     "Bus bandwidth: alg_gb_per_s times the collective's traffic factor (nccl-tests)."},
    {"exposed_ns", CellType::integer, Unit::ns, "Time with no other kernel in flight, summed over devices."},
};

void add_row(ResultTable& table, const Facts& facts, const Key& key, const Group& group) {
    const auto& [name, message] = key;
    std::optional<double> rate, factor = bus_factor(message);
    if (message.bytes && group.total.real() > 0)
        rate = static_cast<double>(*message.bytes) * static_cast<double>(group.count) / group.total.real();
    table.add_row({
        text_cell(name),
        integer(group.count),
        integer(message.bytes),
        integer(group.total.value()),
        real(group.total.over(group.count)),
        real(rate),
        rate && factor ? real(*rate * *factor) : kAbsent,
        integer(exposed(facts, group).value()),
    });
}

Result<ResultTable> run(const Facts& facts) {
    std::map<Key, Group> groups = gather(facts.trace(), facts.options().device);
    std::vector<std::pair<const Key, Group>*> order;
    bool sizes_known = true;
    for (auto& entry : groups) {
        order.push_back(&entry);
        sizes_known &= entry.first.second.bytes.has_value();
    }
    std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->second.total > b->second.total; });
    ResultTable table("collectives", kColumns);
    table.handle_prefix = "c";
    for (auto* entry : order) add_row(table, facts, entry->first, entry->second);
    if (!sizes_known)
        table.notes.push_back(
            "Rates are absent where the message size was not recorded; newer PyTorch versions record it.");
    return table;
}

}  // namespace

const Analysis kCollectives{"collectives", "nccl_sum",
                            "Per collective and message size: time, bandwidth, exposed time.", kColumns, run};

}  // namespace gpuprof
