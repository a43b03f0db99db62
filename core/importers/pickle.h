// A pickle (protocols 0 to 5) as plain values: None, numbers, texts, bytes, lists, tuples, sets and dictionaries of these. Whatever
// would name or call code, or ask for something outside the file, is refused: reading a pickle here runs nothing.
// Values form a graph, since a pickle may name one twice or within itself; a reader that follows names of its own format
// down a fixed number of levels is safe. Memory is in proportion to the bytes of the pickle, and bounded.
// Of a pickle that is cut off or damaged, what was read so far is put together: values go where the next opcodes would have put them,
// and the containers that were still being filled are marked as open.
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

namespace gpuprof {

struct PickleValue {
    enum class Kind : std::uint8_t { none, boolean, integer, real, text, bytes, list, tuple, set, dictionary };
    Kind kind = Kind::none;
    // integer: the value, of one up to 2^64 - 1 the bit pattern; real: its bit pattern; texts and containers: an index.
    std::int64_t bits = 0;
};

class Pickle {
public:
    // `bytes` must outlive the result. The message says at which byte what was wrong or refused, without a file name; one that needs more
    // than `most_memory` bytes is refused with ExitCode::internal.
    static Result<Pickle> read(std::string_view bytes, std::uint64_t most_memory = UINT64_MAX);

    // Why and where reading stopped in a pickle that is not whole; "" of one that is.
    const std::string& cut() const { return cut_; }
    // Whether the container was still being filled there.
    bool is_open(const PickleValue& value) const {
        return value.kind >= PickleValue::Kind::list && open_.contains(value.bits);
    }
    // What the values take in memory, about.
    std::uint64_t bytes() const { return memory_; }

    const PickleValue& root() const { return root_; }
    // Elements of a list, tuple or set; keys and values in turn of a dictionary; nothing of anything else.
    std::span<const PickleValue> items(const PickleValue& value) const;
    // The value of a key of a dictionary; None when there is no such key, or no dictionary.
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

}  // namespace gpuprof
