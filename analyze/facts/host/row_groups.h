// Rows of a table grouped by a key with a counting sort, linear in rows for any number of keys. Within a group the rows
// keep the table's order (by start), which keeps column reads sequential.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/pod_vector.h"

namespace gpuprof::inline facts {

class RowGroups {
public:
    static constexpr std::uint32_t kLeftOut = 0xFFFFFFFFu;

    // Groups rows 0 .. rows-1 by key_of(row) < keys; rows whose key is kLeftOut are in no group.
    template <class KeyOf>
    RowGroups(std::size_t rows, std::size_t keys, KeyOf&& key_of) : begin_(keys + 1, 0) {
        for (Row row = 0; row < rows; ++row)
            if (std::uint32_t key = key_of(row); key != kLeftOut) ++begin_[key + 1];
        for (std::size_t key = 0; key < keys; ++key) begin_[key + 1] += begin_[key];
        std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
        rows_.resize(begin_.back());
        for (Row row = 0; row < rows; ++row)
            if (std::uint32_t key = key_of(row); key != kLeftOut) rows_[next[key]++] = row;
    }
    // Number of keys, including empty groups.
    std::size_t size() const { return begin_.size() - 1; }
    std::span<const Row> operator[](std::size_t key) const {
        return {rows_.data() + begin_[key], begin_[key + 1] - begin_[key]};
    }

private:
    std::vector<std::uint32_t> begin_;
    PodVector<Row> rows_;
};

}  // namespace gpuprof::facts
