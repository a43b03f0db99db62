// How much memory the contents of an input may take, from the read limits: a few bytes can encode a row of a hundred
// bytes, and a format may repeat a value by reference. Readers ask while they read, and stop with the error.
#pragma once

#include <cstdint>

#include "core/model/build/trace_builder.h"
#include "io/importers/source/source.h"

namespace gpuprof::inline importers {

std::uint64_t bytes_of(const Batch& batch);

class MemoryLimit {
public:
    explicit MemoryLimit(const Source& source) : source_(source) {}

    std::uint64_t bytes() const { return source_.limits().memory(source_.own_bytes()); }
    bool is_below(std::uint64_t needed) const { return bytes() < needed; }
    // The same for a batch plus `besides` bytes; checks once in a thousand calls, so that every row may ask.
    bool is_below(const Batch& batch, std::uint64_t other_bytes = 0) {
        if (++calls_ % 1024 != 0) return false;
        return is_below(bytes_of(batch) + other_bytes);
    }
    Error error() const;

private:
    const Source& source_;
    std::uint64_t calls_ = 0;
};

}  // namespace gpuprof::importers
