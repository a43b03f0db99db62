#include "analyze/facts/moments.h"

#include <fmt/format.h>

#include <cmath>

#include "analyze/facts/facts.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline facts {
namespace {

constexpr double kMaxSpan_ns = 1e18;  // times in a trace are below 2^61 ns

std::optional<TimeNs> moment_of(const Facts& facts, std::string_view text) {
    bool is_before = text.starts_with('-');  // samples begin before the first event
    std::optional<double> ns = duration_of_text(text.substr(is_before ? 1 : 0), "s");
    if (!ns || *ns > kMaxSpan_ns) return std::nullopt;
    return facts.trace().zero() + (is_before ? -1 : 1) * std::llround(*ns);
}

}  // namespace

Result<std::optional<TimeNs>> requested_moment(const Facts& facts) {
    const std::string& text = facts.options().at;
    if (text.empty()) return std::optional<TimeNs>();
    std::optional<TimeNs> at = moment_of(facts, text);
    if (at) return at;
    return Error{ExitCode::usage,
                 fmt::format("--at '{}' is not a time; give seconds from the start, or a unit: 1.5 or 1500ms", text)};
}

Result<std::optional<Interval>> requested_moments(const Facts& facts) {
    const std::string& text = facts.options().between;
    if (text.empty()) return std::optional<Interval>();
    std::size_t colon = text.find(':');
    std::optional<TimeNs> from, to;
    if (colon != text.npos) {
        from = moment_of(facts, std::string_view(text).substr(0, colon));
        to = moment_of(facts, std::string_view(text).substr(colon + 1));
    }
    if (!from || !to)
        return Error{
            ExitCode::usage,
            fmt::format("--between '{}' is not two times; give them as A:B, in seconds from the start or with a "
                        "unit: 1.5:3 or 100ms:2s",
                        text)};
    if (*from >= *to)
        return Error{ExitCode::usage, fmt::format("--between '{}': the first time must be before the second", text)};
    return std::optional<Interval>(Interval{*from, *to});
}

}  // namespace gpuprof::facts
