// Which value of an uncertain quantity is taken.
#pragma once

#include <cstdint>

namespace gpuprof::inline replay {

// The central estimate, or an end of the range.
enum class Estimate : std::uint8_t { low, central, high };

}  // namespace gpuprof::replay
