#include "present/report/bars.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace gpuprof::inline report {
namespace {

constexpr std::string_view kRising[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kRisingAscii[] = {" ", ".", ":", "=", "#"};
constexpr std::string_view kBarSteps[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};

// The mean of slices [from, to) of `busy`, where the bounds may lie inside a slice.
double mean(std::span<const double> busy, double from, double to) {
    double sum = 0;
    for (auto i = static_cast<std::size_t>(from); i < busy.size() && static_cast<double>(i) < to; ++i) {
        double begin = std::max(from, static_cast<double>(i));
        double end = std::min(to, static_cast<double>(i) + 1);
        sum += busy[i] * (end - begin);
    }
    return sum / (to - from);
}

// Which of `levels` + 1 steps shows `share`: 0 and the last only for exactly none and all (to rounding errors).
std::size_t step(double share, std::size_t levels) {
    constexpr double kRounding = 1e-9;
    if (!(share > kRounding)) return 0;
    if (share >= 1 - kRounding) return levels;
    auto inner = static_cast<std::size_t>(share * static_cast<double>(levels - 1));
    return std::min(inner, levels - 2) + 1;
}

}  // namespace

std::string busy_bars(std::span<const double> busy, int width, bool unicode) {
    std::span<const std::string_view> levels = unicode ? std::span<const std::string_view>(kRising) : kRisingAscii;
    std::string line;
    double slices = static_cast<double>(busy.size()) / width;
    for (int cell = 0; cell < width && !busy.empty(); ++cell)
        line += levels[step(mean(busy, cell * slices, (cell + 1) * slices), levels.size() - 1)];
    return line;
}

std::string share_bar(double share, int width, bool unicode) {
    share = std::clamp(share, 0.0, 1.0);
    if (!unicode) return std::string(static_cast<std::size_t>(std::ceil(share * width)), '#');
    auto eighths = static_cast<int>(std::ceil(share * width * 8 - 1e-9));
    std::string bar;
    for (int cell = 0; cell < eighths / 8; ++cell) bar += kBarSteps[8];
    bar += kBarSteps[static_cast<std::size_t>(eighths % 8)];
    return bar;
}

}  // namespace gpuprof::report
