// Rows of a large table grouped by the name in one of its columns, for statistics per name, and the names of calls and
// kernels in the order in which tables and findings number them. Columns are read from the first row to the last and never
// gathered per group: with many names, the rows of one name are scattered all over memory. Groups are numbered in order
// of first use. Rows without a name form a separate group.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/facts/stat.h"
#include "core/base/ids.h"
#include "core/base/pod_vector.h"
#include "core/model/column.h"

namespace gpuprof::inline model {
class Trace;
struct ApiCallTable;
struct OsCallTable;
}  // namespace gpuprof::model

namespace gpuprof::inline facts {

// Calls work(i) for every i < n, on all CPUs if `items` (the amount of work) is large enough. The calls must not depend
// on each other.
void for_each_group(std::size_t n, std::size_t items, const std::function<void(std::size_t)>& work);

class NameGroups {
public:
    static constexpr std::uint32_t kLeftOut = 0xFFFFFFFFu;

    // `strings` is the size of the trace's string pool; rows for which keep(row) is false are in no group.
    template <class Keep>
    NameGroups(const Column<StringId>& names, std::size_t strings, Keep&& keep) : group_(names.size()) {
        std::vector<std::uint32_t> by_name(strings + 1, kLeftOut);  // the last is "no name"
        std::vector<std::uint32_t> counts;
        for (Row row = 0; row < names.size(); ++row) {
            group_[row] = kLeftOut;
            if (!keep(row)) continue;
            StringId name = names.value_or(row, kNoString);
            std::uint32_t& group = by_name[name == kNoString ? strings : index_of(name)];
            if (group == kLeftOut) {
                group = static_cast<std::uint32_t>(names_.size());
                names_.push_back(name);
                counts.push_back(0);
            }
            ++counts[group];
            group_[row] = group;
        }
        begin_.push_back(0);
        for (std::uint32_t count : counts) begin_.push_back(begin_.back() + count);
    }
    std::size_t size() const { return names_.size(); }
    StringId name(std::size_t group) const { return names_[group]; }
    std::size_t count(std::size_t group) const { return begin_[group + 1] - begin_[group]; }
    // The group of a row, or kLeftOut.
    std::uint32_t of(Row row) const { return group_[row]; }
    std::size_t rows() const { return group_.size(); }

    // value(row) of every row in a group, sorted by group; slice() returns one group's part.
    template <class Value>
    PodVector<std::int64_t> gather(Value&& value) const {
        PodVector<std::int64_t> values(begin_.back());
        std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
        for (Row row = 0; row < group_.size(); ++row)
            if (group_[row] != kLeftOut) values[next[group_[row]]++] = value(row);
        return values;
    }
    std::span<std::int64_t> slice(PodVector<std::int64_t>& values, std::size_t group) const {
        return {values.data() + begin_[group], count(group)};
    }

    // Per group, the value shared by all its rows; absent if two differ or one is absent.
    template <class T>
    std::vector<std::optional<T>> shared(const Column<T>& column) const {
        std::vector<std::optional<T>> first(size());
        if (column.none_present()) return first;
        if (column.repeats(column[0])) return std::vector<std::optional<T>>(size(), column[0]);
        enum : std::uint8_t { none_seen, one_value, differs };
        struct Seen {
            T value{};
            std::uint8_t state = none_seen;
        };
        std::vector<Seen> by_group(size());
        for (Row row = 0; row < group_.size(); ++row) {
            if (group_[row] == kLeftOut) continue;
            Seen& seen = by_group[group_[row]];
            if (seen.state == differs) continue;
            T value = column[row];
            if (seen.state == none_seen) seen = {value, one_value};
            if (!column.has(row) || value != seen.value) seen.state = differs;
        }
        for (std::size_t group = 0; group < size(); ++group)
            if (by_group[group].state == one_value) first[group] = by_group[group].value;
        return first;
    }

private:
    PodVector<std::uint32_t> group_;    // by row
    std::vector<StringId> names_;       // by group
    std::vector<std::uint32_t> begin_;  // where each group's values begin; size is groups + 1
};

class Facts;

// CUDA or HIP calls by function name: a-1, a-2, ... in tables and findings.
struct CallTimes {
    StringId name = kNoString;
    Stat stat;
    std::size_t threads = 0;  // named threads only
};

// One entry per function: longest total first, then by name.
std::vector<CallTimes> calls_by_name(const Trace& trace, const ApiCallTable& calls);
std::vector<CallTimes> calls_by_name(const Trace& trace, const OsCallTable& calls);

struct CallNames {
    std::vector<CallTimes> calls;
    static CallNames make(const Facts& facts);
    // "a-2"; "" if no call has the name.
    std::string handle(StringId name) const;
};

// Kernels by name, and the order of the names: k-1, k-2, ... in tables and findings.
struct KernelNames {
    NameGroups groups;                 // of the rows of `kernel` on the selected devices
    std::vector<WideSum> totals;       // ns, by group
    std::vector<std::uint32_t> order;  // groups, longest total first, then by name
    // The name of the kernel k-N, N from 1; kNoString if there are fewer.
    StringId with_handle(std::size_t number) const {
        return number >= 1 && number <= order.size() ? groups.name(order[number - 1]) : kNoString;
    }
    static KernelNames make(const Facts& facts);
};

}  // namespace gpuprof::facts
