// What reading one input may cost, from read_limits.def. A small file can decompress to any size, a few bytes can
// encode a row of a hundred bytes, and a pipe may never receive data.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/schema/read_limits.def"

namespace gpuprof::inline schema {

struct ReadLimits {
#define GPUPROF_LIMIT_FIELD(name, initial, value, doc) double name = initial;
    GPUPROF_READ_LIMITS(GPUPROF_LIMIT_FIELD)
#undef GPUPROF_LIMIT_FIELD

    static constexpr double kMiB = 1 << 20, kGiB = 1 << 30;

    // The decompressed size allowed by the ratio for a compressed input of `own` bytes.
    std::uint64_t by_ratio(std::uint64_t own) const {
        return bytes(std::max(32 * kMiB, unpack_ratio * static_cast<double>(own)));
    }
    std::uint64_t by_size() const { return bytes(unpack_gib * kGiB); }
    // The memory in bytes that the contents of an input of `own` bytes may take.
    std::uint64_t memory(std::uint64_t own) const {
        return bytes(memory_gib > 0 ? memory_gib * kGiB : 768 * kMiB + 128 * static_cast<double>(own));
    }

private:
    static std::uint64_t bytes(double count) {
        return static_cast<std::uint64_t>(std::clamp(count, 0.0, static_cast<double>(std::int64_t{1} << 60)));
    }
};

}  // namespace gpuprof::schema
