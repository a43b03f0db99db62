// Terminal colours. Without colours every method returns its text unchanged. Only four styles, so that a report stays
// calm: bold for what to read first, dim for what can be skipped, green for busy, magenta for warnings. All four are
// readable on light and dark backgrounds; yellow is not.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace gpuprof::inline report {

class Paint {
public:
    explicit Paint(bool on) : on_(on) {}
    std::string bold(std::string_view text) const { return wrap("1", text); }
    std::string dim(std::string_view text) const { return wrap("2", text); }
    std::string busy(std::string_view text) const { return wrap("32", text); }
    std::string warning(std::string_view text) const { return wrap("35", text); }

private:
    std::string wrap(std::string_view code, std::string_view text) const {
        if (!on_ || text.empty()) return std::string(text);
        return fmt::format("\x1b[{}m{}\x1b[0m", code, text);  // SGR, ECMA-48 8.3.117
    }
    bool on_;
};

}  // namespace gpuprof::report
