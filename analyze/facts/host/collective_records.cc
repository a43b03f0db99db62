#include "analyze/facts/host/collective_records.h"

#include <algorithm>
#include <string_view>

namespace gpuprof::inline facts {
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

}  // namespace

CollectiveMessage message_of(const Trace& trace, Row row) {
    const CollectiveTable& table = trace.tables().collective;
    CollectiveMessage message;
    message.kind = collective_kind(trace.text(table.name.value_or(row, kNoString)));
    if (table.group_size.has(row) && table.group_size[row] > 0) message.ranks = table.group_size[row];
    if (table.bytes.has(row)) {
        message.bytes = table.bytes[row];
        return message;
    }
    std::int64_t elements = std::max(table.in_elements.value_or(row, 0), table.out_elements.value_or(row, 0));
    std::optional<std::int64_t> size = element_bytes(trace.text(table.type.value_or(row, kNoString)));
    if (size && elements > 0 && elements <= INT64_MAX / *size) message.bytes = elements * *size;
    return message;
}

CollectiveRecords::CollectiveRecords(const Trace& trace)
    : trace_(trace), processes_(trace.tables().process.key, trace.strings().size()) {
    const CollectiveTable& table = trace.tables().collective;
    for (Row row = 0; row < table.rows; ++row) {
        // A host-side record of waiting for a collective has no message.
        if (collective_kind(trace.text(table.name.value_or(row, kNoString))) == CollectiveKind::unknown) continue;
        if (table.correlation.has(row)) {
            by_correlation_.push_back({{process(table, row), table.correlation[row]}, row});
        } else if (table.external_id.has(row)) {
            by_external_.push_back({{process(table, row), table.external_id[row]}, row});
        }
    }
    std::sort(by_correlation_.begin(), by_correlation_.end());
    for (std::size_t i = 0, first = 0; i < by_correlation_.size(); ++i) {
        if (by_correlation_[i].first != by_correlation_[first].first) first = i;
        if (i != first) others_[by_correlation_[first].second].push_back(by_correlation_[i].second);
    }
    std::sort(by_external_.begin(), by_external_.end());
}

// The first row of the key.
Row CollectiveRecords::find(const Index& index, Key key) {
    auto found = std::lower_bound(index.begin(), index.end(), std::pair{key, Row{0}});
    return found == index.end() || found->first != key ? kNoRow : found->second;
}

Row CollectiveRecords::find(Row kernel) const {
    const KernelTable& table = trace_.kernel();
    std::uint32_t own = process(table, kernel);
    for (std::uint32_t slot : {own, processes_.other()}) {
        if (table.correlation.has(kernel))
            if (Row found = find(by_correlation_, {slot, table.correlation[kernel]}); found != kNoRow) return found;
        if (table.external_id.has(kernel))
            if (Row found = find(by_external_, {slot, table.external_id[kernel]}); found != kNoRow) return found;
    }
    return kNoRow;
}

std::span<const Row> CollectiveRecords::others(Row record) const {
    auto found = others_.find(record);
    return found == others_.end() ? std::span<const Row>() : found->second;
}

}  // namespace gpuprof::facts
