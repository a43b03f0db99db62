// Changes as text.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "analyze/replay/changes.h"
#include "core/base/text/close_match.h"
#include "core/base/text/pattern.h"

namespace gpuprof::inline replay {
namespace {

constexpr std::string_view kKernels = "kernel:";
constexpr double kMaxFactor = 1'000;

Error refused(std::string why) { return {ExitCode::usage, std::move(why)}; }

// N of the handle k-N, from 1.
std::optional<std::size_t> number_of_handle(std::string_view name) {
    if (!name.starts_with("k-")) return std::nullopt;
    std::size_t number = 0;
    auto [end, error] = std::from_chars(name.data() + 2, name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size() || number == 0) return std::nullopt;
    return number;
}

Result<Edit> parse_edit(std::string_view text) {
    Edit edit;
    std::string_view name = text;
    std::size_t equals = text.rfind('=');
    if (equals != text.npos) {
        name = text.substr(0, equals);
        std::string_view number = text.substr(equals + 1);
        auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), edit.factor);
        if (error != std::errc() || end != number.data() + number.size() ||
            !(edit.factor >= 0 && edit.factor <= kMaxFactor))
            return refused(fmt::format("invalid factor '{}' in change '{}': expected a number from 0 to {:.0f}", number,
                                       text, kMaxFactor));
    }
    if (name.starts_with(kKernels)) {
        edit.change = Change::kernels;
        edit.pattern = name.substr(kKernels.size());
        if (equals == text.npos) return refused(fmt::format("change '{}' needs a factor, as in '{}=0.5'", text, text));
        if (edit.pattern.empty()) return refused(fmt::format("change '{}': the pattern is empty", text));
        Result<Pattern> pattern = Pattern::compile(edit.pattern);
        if (!pattern.ok()) return refused(fmt::format("change '{}': {}", text, pattern.error().message));
        return edit;
    }
    if (std::optional<std::size_t> number = number_of_handle(name)) {
        edit.change = Change::kernels;
        edit.kernel = *number;
        if (equals == text.npos) return refused(fmt::format("change '{}' needs a factor, as in '{}=0.5'", text, text));
        return edit;
    }
    for (std::size_t i = 0; i < kUsualChanges; ++i) {
        edit.change = static_cast<Change>(i);
        if (rule_of(edit.change).name != name) continue;
        if (!rule_of(edit.change).scales && edit.factor != 0)
            return refused(fmt::format("change '{}' has no factor: it is made or not", name));
        return edit;
    }
    std::vector<std::string_view> known = usual_change_names();
    known.insert(known.end(), {"k-N", "kernel:REGEX"});
    return unknown_choice("change", name, known);
}

}  // namespace

std::string text_of(const Edit& edit) {
    if (edit.kernel > 0) return fmt::format("k-{}={}", edit.kernel, edit.factor);
    if (edit.change == Change::kernels) return fmt::format("kernel:{}={}", edit.pattern, edit.factor);
    if (edit.factor == 0) return std::string(rule_of(edit.change).name);
    return fmt::format("{}={}", rule_of(edit.change).name, edit.factor);
}

Result<std::vector<Edit>> parse_edits(std::string_view text) {
    std::vector<Edit> edits;
    while (!text.empty()) {
        std::size_t end = std::min(text.find(';'), text.size());
        std::string_view one = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        while (one.starts_with(' ')) one.remove_prefix(1);
        while (one.ends_with(' ')) one.remove_suffix(1);
        if (one.empty()) continue;
        Result<Edit> edit = parse_edit(one);
        if (!edit.ok()) return edit.error();
        edits.push_back(std::move(edit).value());
    }
    return edits;
}

}  // namespace gpuprof::replay
