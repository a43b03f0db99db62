#include "present/report/text_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/base/text/ascii.h"
#include "core/base/text/utf8.h"

namespace gpuprof::inline report {
namespace {

// How many bytes from the front of `text` fill at most `width` cells.
std::size_t bytes_of_cells(std::string_view text, int width) {
    std::size_t bytes = 0;
    while (bytes < text.size()) {
        CodePoint point = decode_utf8(text.substr(bytes));
        width -= cell_width(point.value);
        if (width < 0) break;
        bytes += point.bytes;
    }
    return bytes;
}

std::string shorten(const std::string& text, int width, int head_percent, bool unicode) {
    int whole = display_width(text);
    if (whole <= width) return text;
    std::string_view mark = unicode ? "…" : "...";
    int room = std::max(width - (unicode ? 1 : 3), 0);
    int head = (room * head_percent + 50) / 100;
    std::string_view front = std::string_view(text).substr(0, bytes_of_cells(text, head));
    std::size_t skip = bytes_of_cells(text, whole - (room - head));
    while (display_width(std::string_view(text).substr(skip)) > room - head)
        skip += decode_utf8(std::string_view(text).substr(skip)).bytes;
    return fmt::format("{}{}{}", front, mark, std::string_view(text).substr(skip));
}

bool is_identifier(char c) { return is_alphanumeric(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80; }

// "void f<int>(int*, long)" -> "f<int>": without result and parameters of the function.
std::string_view without_signature(std::string_view name) {
    if (name.substr(0, 5) == "void ") name.remove_prefix(5);
    if (name.empty() || name.back() != ')') return name;
    int depth = 0;
    for (std::size_t at = name.size(); at-- > 0;) {
        if (name[at] == ')') ++depth;
        if (name[at] == '(') --depth;
        if (depth == 0) return at > 0 ? name.substr(0, at) : name;
    }
    return name;
}

// "at::native::add<std::array<char, 2> >" -> "add<array<char, 2> >"; "(anonymous namespace)::" goes too.
std::string without_namespaces(std::string_view name) {
    std::string out;
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (name.substr(at, 2) != "::") {
            out += name[at];
            continue;
        }
        std::size_t parenthesis = !out.empty() && out.back() == ')' ? out.rfind('(') : std::string::npos;
        if (parenthesis != std::string::npos) out.resize(parenthesis);
        while (!out.empty() && is_identifier(out.back())) out.pop_back();
        ++at;
    }
    return out;
}

}  // namespace

int display_width(std::string_view text) {
    int width = 0;
    while (!text.empty()) {
        if (static_cast<unsigned char>(text.front()) < 0x80) {
            ++width;
            text.remove_prefix(1);
            continue;
        }
        CodePoint point = decode_utf8(text);
        width += cell_width(point.value);
        text.remove_prefix(point.bytes);
    }
    return width;
}

std::string cut_end(const std::string& text, int width) { return text.substr(0, bytes_of_cells(text, width)); }

std::string shorten_middle(const std::string& text, int width, bool unicode) {
    return shorten(text, width, 60, unicode);  // the beginning of a name says a little more than its end
}

std::string shorten_name(const std::string& name, int width, bool unicode) {
    bool is_cpp = name.rfind("void ", 0) == 0 || name.find("::") != std::string::npos;
    if (!is_cpp || display_width(name) <= width) return shorten_middle(name, width, unicode);
    std::string bare(without_signature(name));
    if (display_width(bare) > width) bare = without_namespaces(bare);
    return shorten(bare, width, 80, unicode);  // the end is mostly closing brackets
}

std::string pad_right(std::string_view text, int width) {
    return std::string(text) + std::string(static_cast<std::size_t>(std::max(width - display_width(text), 0)), ' ');
}

std::string pad_left(std::string_view text, int width) {
    return std::string(static_cast<std::size_t>(std::max(width - display_width(text), 0)), ' ') + std::string(text);
}

std::vector<std::string> wrap(std::string_view text, int width) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        std::size_t fits = std::max<std::size_t>(bytes_of_cells(text, width), decode_utf8(text).bytes);
        std::size_t space = fits < text.size() ? text.rfind(' ', fits) : std::string_view::npos;
        // A number keeps its percent sign.
        if (space != std::string_view::npos && space > 0 && text.substr(space, 2) == " %")
            space = text.rfind(' ', space - 1);
        std::size_t end = space != std::string_view::npos && space > 0 ? space : fits;
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(end);
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    }
    return lines;
}

std::vector<std::string> cut_lines(std::string_view text, int width, std::size_t most, bool unicode) {
    std::vector<std::string> lines = wrap(text, width);
    if (lines.size() <= most || most == 0) return lines;
    std::string last = lines[most - 1];
    for (std::size_t i = most; i < lines.size() && display_width(last) <= width; ++i) last += " " + lines[i];
    lines.resize(most);
    std::string_view mark = unicode ? "…" : "...";
    lines.back() = cut_end(last, width - display_width(mark)) + std::string(mark);
    return lines;
}

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
