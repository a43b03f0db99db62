#include "cli/top/plot.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace gpuprof::inline cli {
namespace {

constexpr std::string_view kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kAscii[] = {" ", ".", ":", "#"};

}  // namespace

std::vector<std::string> plot(std::span<const std::optional<double>> values, double top, int rows, bool unicode) {
    std::span<const std::string_view> blocks = unicode ? std::span<const std::string_view>(kBlocks) : kAscii;
    int steps = static_cast<int>(blocks.size()) - 1;
    std::vector<std::string> lines(static_cast<std::size_t>(std::max(rows, 0)));
    for (const std::optional<double>& value : values) {
        double share = std::clamp(value.value_or(0) / top, 0.0, 1.0);
        int height = static_cast<int>(std::ceil(share * rows * steps - 1e-9));
        for (int row = 0; row < rows; ++row) {
            bool lowest = row == rows - 1;
            int here = std::clamp(height - (rows - 1 - row) * steps, 0, steps);
            std::string& line = lines[static_cast<std::size_t>(row)];
            if (lowest && value && height == 0)
                line += unicode ? "·" : "_";
            else
                line += blocks[static_cast<std::size_t>(here)];
        }
    }
    return lines;
}

}  // namespace gpuprof::cli
