#include "present/query/row_order.h"

#include <algorithm>
#include <limits>

namespace gpuprof::inline query {
namespace {

// Maximum number of integer buckets; more would cost more than they save.
constexpr std::int64_t kMaxRange = 1 << 16;

struct Bounds {
    std::int64_t low = 0, high = -1;  // low > high: no row has a value
};

Bounds bounds_of(const FrameColumn& column, std::size_t rows) {
    Bounds bounds{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
    for (Row row = 0; row < rows; ++row) {
        if (!column.has(row)) continue;
        std::int64_t value = column.integer(row);
        bounds.low = std::min(bounds.low, value), bounds.high = std::max(bounds.high, value);
    }
    return bounds.low > bounds.high ? Bounds{} : bounds;
}

bool narrow(const Bounds& bounds) {
    return bounds.low > bounds.high ||
           static_cast<std::uint64_t>(bounds.high) - static_cast<std::uint64_t>(bounds.low) < kMaxRange;
}

// The rank of each row's value among the values of the column: 0 if absent, then in order.
class Places {
public:
    Places(const Frame& frame, const FrameColumn& column) : column_(column) {
        if (column.type == FrameType::text)
            rank_texts(frame);
        else
            bounds_ = bounds_of(column, frame.rows), count_ = static_cast<std::size_t>(bounds_.high - bounds_.low + 2);
    }
    std::size_t count() const { return count_; }
    std::size_t of(Row row) const {
        if (!column_.has(row)) return 0;
        if (column_.type == FrameType::text) return rank_[index_of(column_.text(row))];
        return static_cast<std::size_t>(column_.integer(row) - bounds_.low + 1);
    }

private:
    void rank_texts(const Frame& frame) {
        rank_.resize(frame.strings->size());
        std::vector<StringId> used;
        for (Row row = 0; row < frame.rows; ++row) {
            if (!column_.has(row)) continue;
            StringId id = column_.text(row);
            if (rank_[index_of(id)] == 0) used.push_back(id);
            rank_[index_of(id)] = 1;
        }
        std::sort(used.begin(), used.end(),
                  [&](StringId a, StringId b) { return (*frame.strings)[a] < (*frame.strings)[b]; });
        for (std::size_t i = 0; i < used.size(); ++i) rank_[index_of(used[i])] = static_cast<std::uint32_t>(i + 1);
        count_ = used.size() + 1;
    }

    const FrameColumn& column_;
    std::vector<std::uint32_t> rank_;  // by string id
    Bounds bounds_;
    std::size_t count_ = 1;
};

}  // namespace

bool can_sort_by(const Frame& frame, std::size_t column) {
    const FrameColumn& wanted = frame.columns[column];
    if (wanted.type == FrameType::text) return true;
    return wanted.type != FrameType::f64 && wanted.type != FrameType::end && narrow(bounds_of(wanted, frame.rows));
}

void sort_rows(const Frame& frame, std::span<const SortKey> keys, PodVector<Row>& rows) {
    PodVector<Row> sorted(rows.size());
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) {  // each pass is stable, so the first key goes last
        Places places(frame, frame.columns[key->column]);
        std::size_t last = places.count() - 1;
        auto bucket = [&](Row row) { return key->descending ? last - places.of(row) : places.of(row); };
        std::vector<std::size_t> begins(places.count() + 1, 0);
        for (Row row : rows) ++begins[bucket(row) + 1];
        for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
        for (Row row : rows) sorted[begins[bucket(row)]++] = row;
        rows.swap(sorted);
    }
}

RowsByValue::RowsByValue(const Frame& frame, const FrameColumn& column) : column_(column) {
    bool sorted = true;
    for (Row row = 0; row < frame.rows; ++row) {
        if (!column.has(row)) continue;
        sorted = sorted && (rows_.size() == 0 || value_of(*(rows_.end() - 1)) <= value_of(row));
        rows_.push_back(row);
    }
    if (!sorted)
        std::stable_sort(rows_.begin(), rows_.end(), [this](Row a, Row b) { return value_of(a) < value_of(b); });
}

std::int64_t RowsByValue::value_of(Row row) const {
    return column_.type == FrameType::text ? index_of(column_.text(row)) : column_.integer(row);
}

std::span<const Row> RowsByValue::rows(std::int64_t value) const {
    const Row* first = std::lower_bound(rows_.begin(), rows_.end(), value,
                                        [this](Row row, std::int64_t wanted) { return value_of(row) < wanted; });
    const Row* last = std::upper_bound(first, rows_.end(), value,
                                       [this](std::int64_t wanted, Row row) { return wanted < value_of(row); });
    return {first, last};
}

}  // namespace gpuprof::query
