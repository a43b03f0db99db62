// The numeric types used everywhere: times, rows and interned strings. Times are integer nanoseconds. An absent row or
// string has a reserved value, never 0.
#pragma once

#include <cstdint>

namespace gpuprof::inline base {

using TimeNs = std::int64_t;  // a point in time, ns, on the capture's clock
using DurNs = std::int64_t;   // a duration, ns; may be 0, never negative in a Trace

inline constexpr DurNs kSecond = 1'000'000'000, kMillisecond = 1'000'000;
inline constexpr double kNsPerSecond = 1e9;

// The time from one point to another, for any values that a damaged file has; the trace builder checks it.
constexpr DurNs span_between(TimeNs from, TimeNs to) {
    return static_cast<DurNs>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from));
}

using Row = std::uint32_t;  // index of a row in its table
inline constexpr Row kNoRow = 0xFFFFFFFFu;

// An interned string of a StringPool. A strong type, so that an id is never used as a count.
enum class StringId : std::uint32_t {};
inline constexpr StringId kNoString{0xFFFFFFFFu};
constexpr std::uint32_t index_of(StringId id) { return static_cast<std::uint32_t>(id); }

}  // namespace gpuprof::base
