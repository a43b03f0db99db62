#include "cli/record/sample_option.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "cli/choice.h"
#include "collect/pm/sets.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline cli {
namespace {

template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number value{};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

Error wrong(std::string_view item, std::string_view why) {
    return {ExitCode::usage, fmt::format("invalid --sample '{}': {}", item, why)};
}

// pm[:SET][@HZ]
Status read_counters(std::string_view item, SampleOption& option) {
    std::string_view rest = item.substr(2);
    if (std::size_t at = rest.find('@'); at != std::string_view::npos) {
        std::optional<std::int64_t> hz = number_in<std::int64_t>(rest.substr(at + 1));
        if (!hz || *hz < 1 || *hz > kMaxCounterHz)
            return wrong(item, fmt::format("expected a rate from 1 to {} Hz after @", kMaxCounterHz));
        option.counter_hz = *hz;
        rest = rest.substr(0, at);
    }
    if (!rest.empty()) {
        option.counter_set = rest.substr(1);
        if (pm::find_counter_set(option.counter_set) == nullptr)
            return unknown_choice("counter set", option.counter_set, names_of(pm::counter_sets()));
    }
    option.counters = true;
    return {};
}

bool asks_for_counters(std::string_view item) {
    return item.substr(0, 2) == "pm" && (item.size() == 2 || item[2] == ':' || item[2] == '@');
}

}  // namespace

Result<SampleOption> parse_sample_option(std::span<const std::string> words) {
    SampleOption option;
    bool interval = false;
    for (std::string_view list : words) {
        for (bool more = true; more;) {
            std::size_t comma = list.find(',');
            std::string_view item = list.substr(0, comma);
            more = comma != std::string_view::npos;
            if (more) list.remove_prefix(comma + 1);
            if (asks_for_counters(item)) {
                if (option.counters) return wrong(item, "pm may be given only once");
                if (Status read = read_counters(item, option); !read) return read.error();
                continue;
            }
            constexpr double kNs = 1e9, kMaxInterval_ns = 3600 * kNs;
            std::optional<double> interval_ns = duration_of_text(item, "s");
            if (!interval_ns || *interval_ns > kMaxInterval_ns)
                return wrong(item,
                             "expected the time between GPU samples (0 to 3600 seconds, such as 0.1 or 50ms), or "
                             "pm[:SET][@HZ] for counters");
            if (std::exchange(interval, true)) return wrong(item, "the time between samples may be given only once");
            option.device_interval = *interval_ns / kNs;
        }
    }
    return option;
}

}  // namespace gpuprof::cli
