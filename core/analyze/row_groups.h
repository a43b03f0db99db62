// Rows of a table put together by a key: a counting sort, so linear in rows for any number of keys. Within a group the
// rows keep the table's order (by start), which keeps the reads of its columns sequential.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/pod_vector.h"
#include "core/model/column.h"

namespace gpuprof {

class Trace;

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
    // Keys, empty groups included.
    std::size_t size() const { return begin_.size() - 1; }
    std::span<const Row> operator[](std::size_t key) const {
        return {rows_.data() + begin_[key], begin_[key + 1] - begin_[key]};
    }
    // Keys with at least one row, ascending.
    std::vector<std::uint32_t> used() const {
        std::vector<std::uint32_t> keys;
        for (std::uint32_t key = 0; key < size(); ++key)
            if (begin_[key] != begin_[key + 1]) keys.push_back(key);
        return keys;
    }

private:
    std::vector<std::uint32_t> begin_;
    PodVector<Row> rows_;
};

// Rows of a table by the string in one of its columns. The key is the string's index; rows without one come last.
class RowsByName {
public:
    // Rows for which keep(row) is false are left out.
    template <class Keep>
    RowsByName(const Column<StringId>& names, std::size_t strings, Keep&& keep)
        : strings_(strings), groups_(names.size(), strings + 1, [&](Row row) {
              if (!keep(row)) return RowGroups::kLeftOut;
              return names.has(row) ? index_of(names[row]) : static_cast<std::uint32_t>(strings);
          }) {}
    std::vector<std::uint32_t> used() const { return groups_.used(); }
    std::span<const Row> operator[](std::uint32_t key) const { return groups_[key]; }
    // The name a key stands for; kNoString for rows without one.
    StringId name(std::uint32_t key) const { return key == strings_ ? kNoString : StringId{key}; }

private:
    std::size_t strings_;
    RowGroups groups_;
};

// Calls work(i) for every i < n, on two or more threads when `items` (the amount of work behind them) is worth it.
// The calls must not depend on each other.
void for_each_group(std::size_t n, std::size_t items, const std::function<void(std::size_t)>& work);

}  // namespace gpuprof
