// What reading one input may cost, from read_limits.def: a small file can unpack to any size, a few bytes can stand for a row of a
// hundred, and a pipe may never be written to.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/schema/read_limits.def"

namespace gpuprof {

struct ReadLimits {
#define GPUPROF_LIMIT_FIELD(name, initial, value, doc) double name = initial;
    GPUPROF_READ_LIMITS(GPUPROF_LIMIT_FIELD)
#undef GPUPROF_LIMIT_FIELD

    static constexpr double kMiB = 1 << 20, kGiB = 1 << 30;

    // How many bytes a compressed input of `own` bytes may unpack to by its ratio.
    std::uint64_t by_ratio(std::uint64_t own) const {
        return bytes(std::max(64 * kMiB, unpack_ratio * static_cast<double>(own)));
    }
    std::uint64_t by_size() const { return bytes(unpack_gib * kGiB); }
    // How many bytes of memory the contents of an input of `own` bytes may take.
    std::uint64_t memory(std::uint64_t own) const {
        return bytes(memory_gib > 0 ? memory_gib * kGiB : 768 * kMiB + 128 * static_cast<double>(own));
    }

private:
    static std::uint64_t bytes(double count) {
        return static_cast<std::uint64_t>(std::clamp(count, 0.0, static_cast<double>(std::int64_t{1} << 60)));
    }
};

}  // namespace gpuprof
