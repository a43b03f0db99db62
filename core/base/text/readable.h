// Numbers for people: three significant digits with a unit.
//   durations  512 ns, 12.3 us, 4.56 ms, 1.23 s      bytes  640 B, 1.50 MiB (powers of 1024)
//   counts     1,234,567                              rates  1.23 TFLOP/s, 4.5 GB/s (powers of 1000)
// For sentences and text reports; machine formats never use them.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuprof::inline base {

inline constexpr double kMib = 1024.0 * 1024.0;

std::string readable_duration(double ns);
template <std::integral Integer>
std::string readable_duration(Integer ns) {
    return readable_duration(static_cast<double>(ns));
}
std::string readable_bytes(double bytes);
// The reverse, for options: "640", "640 B", "1.5 MiB"; absent unless it is a size from 1 B to 1 EiB.
std::optional<std::uint64_t> bytes_of_text(std::string_view text);
// "464ms", "20 us", "1.5 s" or "300ns" in ns; a bare number is in `unit`, one of these. Absent if invalid or
// negative.
std::optional<double> duration_of_text(std::string_view text, std::string_view unit);
std::string readable_count(std::int64_t count);
// "1 rank", "1,024 ranks".
std::string readable_count(std::size_t count, std::string_view noun);
// A value in powers of 1000 of `unit`, e.g. (1.2e12, "FLOP/s") -> 1.20 TFLOP/s.
std::string readable_scaled(double value, std::string_view unit);
// Two significant digits without an exponent, for uncertainties: "0.052", "5.2", "217".
std::string readable_deviation(double value);
// One decimal, no sign; "<0.1" for nonzero values that would round to 0.
std::string readable_percent(double percent);

}  // namespace gpuprof::base
