// A series as block characters, several rows high. A blank is an unknown value, a dot is exactly 0, and any other value
// shows at least the lowest block, so the three cannot be confused.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::inline cli {

// Returns `rows` lines, top first, with one cell per value. `top` (> 0) is the full height; larger values are cut off.
std::vector<std::string> plot(std::span<const std::optional<double>> values, double top, int rows, bool unicode);

}  // namespace gpuprof::cli
