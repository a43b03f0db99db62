#include "core/base/text/python_frame.h"

#include <charconv>

namespace gpuprof::inline base {
namespace {

std::int64_t line_number(std::string_view text) {
    std::int64_t line = -1;
    auto read = std::from_chars(text.data(), text.data() + text.size(), line);
    return read.ec == std::errc{} && read.ptr == text.data() + text.size() && line >= 0 ? line : -1;
}

}  // namespace

PythonFrame parse_frame(std::string_view frame) {
    std::size_t open = frame.rfind(" (");
    if (open == std::string_view::npos || frame.back() != ')') return {frame, {}, -1};
    PythonFrame parsed{frame.substr(0, open), frame.substr(open + 2, frame.size() - open - 3), -1};
    std::size_t colon = parsed.file.rfind(':');
    if (colon == std::string_view::npos) return parsed;
    parsed.line = line_number(parsed.file.substr(colon + 1));
    if (parsed.line >= 0) parsed.file = parsed.file.substr(0, colon);
    return parsed;
}

PythonFrame parse_python_call(std::string_view name) {
    if (name.starts_with("<built-in ")) return {name.substr(0, name.find(" at 0x")), {}, -1};
    for (std::size_t close = name.find("): "); close != name.npos; close = name.find("): ", close + 1)) {
        std::size_t open = name.rfind('(', close);
        if (open == name.npos || open == 0) continue;
        std::int64_t line = line_number(name.substr(open + 1, close - open - 1));
        if (line >= 0) return {name.substr(close + 3), name.substr(0, open), line};
    }
    return {name, {}, -1};
}

std::string to_text(const PythonFrame& frame) {
    std::string text(frame.function);
    if (frame.file.empty()) return text;
    text.append(" (").append(frame.file);
    if (frame.line >= 0) text.append(":").append(std::to_string(frame.line));
    return text + ')';
}

}  // namespace gpuprof::base
