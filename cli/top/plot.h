// A series as a picture of block characters, several rows high. A blank is a value that is not known, a dot is exactly 0,
// and anything more shows at least the lowest block; so the three are never mistaken for one another.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof {

// `rows` lines, the uppermost first, of one cell per value. `top` (> 0) fills the height; more than it is cut off there.
std::vector<std::string> plot(std::span<const std::optional<double>> values, double top, int rows, bool unicode);

}  // namespace gpuprof
