// Blobs: rows of a level, a table or the list of names as a payload of the capture format, uncompressed; and JSON as it is.
#include <vector>

#include "core/format/payload.h"
#include "core/view/parts.h"

namespace gpuprof {
namespace {

// One column of a payload in the making.
template <class T>
struct Made {
    std::string_view name;
    ColumnType type;
    std::string_view unit;
    std::vector<T> values;
    ColumnView view() const { return {name, type, unit, values.data(), nullptr}; }
};

std::string payload(std::string_view table, std::size_t first, std::size_t rows, const StringPool& strings,
                    const std::vector<ColumnView>& columns) {
    PayloadEncoder encoder;
    encoder.encode({table, first + rows, columns}, strings, first, rows);
    return encoder.payload(nullptr);
}

// What slices of all levels have in common.
template <class Items>
std::string encode_slices(const Items& items, const Blob& blob, const StringPool& strings) {
    Made<std::int64_t> start{"start", ColumnType::Time, "ns", {}}, dur{"dur", ColumnType::Dur, "ns", {}},
        row{"row", ColumnType::I64, "", {}}, count{"count", ColumnType::I64, "count", {}},
        busy{"busy", ColumnType::Dur, "ns", {}};
    Made<StringId> name{"name", ColumnType::Str, "", {}};
    bool any_name = false, any_row = false;
    for (std::size_t i = 0; i < blob.count; ++i) {
        const auto& slice = items[blob.first + i];
        start.values.push_back(slice.start);
        dur.values.push_back(slice.dur);
        name.values.push_back(slice.name);
        row.values.push_back(slice.row);
        any_name |= slice.name != kNoString;
        any_row |= slice.row != kNoRow;
        if constexpr (requires { slice.busy; }) {
            count.values.push_back(slice.count);
            busy.values.push_back(slice.busy);
        }
    }
    std::vector<ColumnView> columns{start.view(), dur.view()};
    if (any_name) columns.push_back(name.view());
    if (any_row) columns.push_back(row.view());
    if (!count.values.empty()) columns.push_back(count.view()), columns.push_back(busy.view());
    return payload("slice", 0, blob.count, strings, columns);
}

std::string encode_values(const PodVector<Value>& items, const Blob& blob, const StringPool& strings) {
    Made<std::int64_t> time{"time", ColumnType::Time, "ns", {}};
    Made<double> value{"value", ColumnType::F64, "", {}};
    for (std::size_t i = 0; i < blob.count; ++i) {
        time.values.push_back(items[blob.first + i].time);
        value.values.push_back(items[blob.first + i].value);
    }
    return payload("value", 0, blob.count, strings, {time.view(), value.view()});
}

std::string encode_values(const PodVector<MergedValue>& items, const Blob& blob, const StringPool& strings) {
    Made<std::int64_t> time{"time", ColumnType::Time, "ns", {}}, count{"count", ColumnType::I64, "count", {}};
    Made<double> mean{"value", ColumnType::F64, "", {}}, low{"low", ColumnType::F64, "", {}},
        high{"high", ColumnType::F64, "", {}};
    for (std::size_t i = 0; i < blob.count; ++i) {
        const MergedValue& merged = items[blob.first + i];
        time.values.push_back(merged.time);
        mean.values.push_back(merged.mean);
        low.values.push_back(merged.low);
        high.values.push_back(merged.high);
        count.values.push_back(merged.count);
    }
    return payload("value", 0, blob.count, strings, {time.view(), mean.view(), low.view(), high.view(), count.view()});
}

std::string encode_lane(const ViewParts& parts, const Blob& blob) {
    const Lane& lane = parts.scene.lanes[blob.of];
    const LaneParts& merged = parts.lanes[blob.of];
    if (lane.table == SliceTable::none)
        return blob.level == 0 ? encode_values(lane.values, blob, parts.strings)
                               : encode_values(merged.values[blob.level - 1].items, blob, parts.strings);
    return blob.level == 0 ? encode_slices(lane.slices, blob, parts.strings)
                           : encode_slices(merged.slices[blob.level - 1].items, blob, parts.strings);
}

std::string encode_names(const ViewParts& parts) {
    StringPool strings;
    Made<StringId> table{"table", ColumnType::Str, "", {}}, name{"name", ColumnType::Str, "", {}};
    Made<std::int64_t> count{"count", ColumnType::I64, "count", {}}, total{"total", ColumnType::Dur, "ns", {}},
        first{"first", ColumnType::Time, "ns", {}}, last{"last", ColumnType::Time, "ns", {}};
    for (const auto& [key, sum] : parts.names) {
        table.values.push_back(strings.intern(name_of(key.first)));
        name.values.push_back(strings.intern(parts.strings[key.second]));
        count.values.push_back(sum.count);
        total.values.push_back(sum.total);
        first.values.push_back(sum.first);
        last.values.push_back(sum.last);
    }
    return payload("name", 0, parts.names.size(), strings,
                   {table.view(), name.view(), count.view(), total.view(), first.view(), last.view()});
}

}  // namespace

std::string encode_blob(const ViewParts& parts, std::size_t id) {
    const Blob& blob = parts.blobs[id];
    switch (blob.kind) {
        case Blob::kLane: return encode_lane(parts, blob);
        case Blob::kTable: {
            const EventTable& table = parts.tables[blob.of];
            return payload(table.name, blob.first, blob.count, parts.strings, table.views);
        }
        case Blob::kNames: return encode_names(parts);
        case Blob::kReport: return parts.answer.report;
        case Blob::kPictures: return parts.answer.pictures;
    }
    return {};
}

}  // namespace gpuprof
