// A pickle (protocols 0 to 5) as plain values: None, numbers, texts, bytes, lists, tuples, sets and dictionaries of
// these. Pickles that name or call code, or refer to anything outside the file, are rejected: reading a pickle here
// runs nothing. Values form a graph, since a pickle may refer to a value twice or within itself; a reader that follows
// its format's names down a fixed number of levels is safe. Memory is proportional to the size of the pickle, and
// bounded. A truncated or damaged pickle is completed with the values read so far: they go where the next opcodes would
// have put them, and the containers still being filled are marked as open.
// Format: CPython, Lib/pickletools.py.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/result.h"

namespace gpuprof::inline importers {

struct PickleValue {
    enum class Kind : std::uint8_t { none, boolean, integer, real, text, bytes, list, tuple, set, dictionary };
    Kind kind = Kind::none;
    // integer: the value, up to 2^64 - 1 as bit pattern; real: its bit pattern; texts and containers: an index.
    std::int64_t bits = 0;
};

class Pickle {
public:
    // `bytes` must outlive the result. The message names the byte that was wrong or rejected, without a file name; a
    // pickle that needs more than `max_memory` bytes is rejected with ExitCode::internal.
    static Result<Pickle> read(std::string_view bytes, std::uint64_t max_memory = UINT64_MAX);

    // Why and where reading stopped in an incomplete pickle; "" if it is complete.
    const std::string& cut() const { return cut_; }
    // Whether the container was still being filled there.
    bool is_open(const PickleValue& value) const {
        return value.kind >= PickleValue::Kind::list && open_.contains(value.bits);
    }
    // Approximate memory of the values.
    std::uint64_t bytes() const { return memory_; }

    const PickleValue& root() const { return root_; }
    // Elements of a list, tuple or set; alternating keys and values of a dictionary; empty for anything else.
    std::span<const PickleValue> items(const PickleValue& value) const;
    // The value of a dictionary's key; None if there is no such key, or no dictionary.
    PickleValue find(const PickleValue& dictionary, std::string_view key) const;
    std::string_view text(const PickleValue& value) const;
    static std::optional<std::int64_t> integer(const PickleValue& value);

private:
    friend class Unpickler;
    std::vector<std::vector<PickleValue>> containers_;
    std::vector<std::string_view> texts_;
    PickleValue root_;
    std::unordered_set<std::int64_t> open_;  // by index
    std::string cut_;
    std::uint64_t memory_ = 0;
};

}  // namespace gpuprof::importers
