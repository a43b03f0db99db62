#include "ranks/reduce/group_id.h"

#include <fmt/format.h>

#include "core/base/fnv.h"

namespace gpuprof::inline ranks {

std::int64_t GroupKey::id() const { return static_cast<std::int64_t>(fnv1a(text) >> 1); }

GroupKey assumed_world(std::string_view description, std::int64_t size) {
    return {fmt::format("{}|{}", description, size), size};
}

std::optional<GroupKey> group_key(const Trace& trace, Row record) {
    const CollectiveTable& table = trace.tables().collective;
    auto text = [&](const Column<StringId>& column) { return trace.text(column.value_or(record, kNoString)); };
    GroupKey key;
    key.size = table.group_size.value_or(record, 0);
    std::string_view ranks = text(table.ranks), description = text(table.group_description);
    if (!ranks.empty()) {
        key.text = fmt::format("{}|{}", ranks, description);
        return key;
    }
    if (std::string_view communicator = text(table.communicator); !communicator.empty()) {
        key.of_communicator = true;
        key.text = fmt::format("{}|{}|{}", kCommunicator, communicator, key.size);
        return key;
    }
    std::string_view name = text(table.group);
    if (name.empty() && description.empty()) return std::nullopt;
    key.text = fmt::format("{}|{}|{}", name, description, key.size);
    return key;
}

}  // namespace gpuprof::ranks
