#include "present/answer/pauses.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analyze/facts/host/stack_samples.h"
#include "analyze/facts/idle/arrivals.h"
#include "analyze/facts/idle/gaps.h"
#include "analyze/facts/idle/idle_calls.h"
#include "analyze/facts/shares.h"
#include "core/base/text/function_name.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline answer {
namespace {

// Of the time between pauses; less is not worth a word.
constexpr double kWorthNamingPct = 10;
constexpr std::size_t kNamed = 2;

// " in epoll_wait", " in select (selectors.py:468)", or "".
std::string where_it_slept(const Facts& facts) {
    if (std::optional<OsCallTime> call = facts.get<IdleOsCalls>().top(facts.get<IdleGaps>(), IdleCause::waiting))
        return " in " + call->text(facts.trace());
    std::string place = facts.get<IdlePython>().of(IdleCause::waiting).top();
    return place.empty() ? "" : " in " + place;
}

// "30 units of work (handle_request) of 2.94 ms".
std::string units(const Facts& facts) {
    const Arrivals& arrivals = facts.get<Arrivals>();
    std::string name;
    if (arrivals.name != kNoString) name = fmt::format(" ({})", short_name(facts.trace().text(arrivals.name)));
    return fmt::format("{} units of work{} of {} each", readable_count(static_cast<std::int64_t>(arrivals.units)), name,
                       readable_duration(arrivals.unit));
}

// What takes the time between pauses: "; while it works: launch-bound 62.1 %, compute-bound 30.0 %".
std::string within(const Explanations& found, DurNs pauses) {
    double whole = static_cast<double>(found.whole - pauses);
    std::string text;
    std::size_t named = 0;
    for (const Explanation& each : found.all) {
        bool pause = each.limit == Limit::unknown || each.limit == Limit::paced || each.limit == Limit::no_load;
        double pct = whole > 0 ? 100 * static_cast<double>(each.time) / whole : 0;
        if (pause || pct < kWorthNamingPct || named == kNamed) continue;
        text += fmt::format("{}{} {} %", named++ == 0 ? "; within a unit of work: " : ", ", name_of(each.limit),
                            readable_percent(pct));
    }
    return text;
}

void give_reason(Explanations& found, Limit limit, const std::string& text) {
    for (Explanation& each : found.all)
        if (each.limit == limit) each.because = text;
}

}  // namespace

void explain_pauses(const Facts& facts, Explanations& found) {
    const Shares& shares = facts.get<Shares>();
    const Arrivals& arrivals = facts.get<Arrivals>();
    DurNs waiting = shares.idle_of(IdleCause::waiting), unknown = shares.idle_of(IdleCause::unknown);
    std::string busy = fmt::format("the GPU is busy {} % of the time", readable_percent(shares.pct(shares.busy)));
    std::string period = readable_duration(arrivals.period);
    switch (arrivals.pattern) {
        case ArrivalPattern::paced:
            return give_reason(
                found, Limit::paced,
                fmt::format("work starts every {}, {} times, after the thread that submits it slept{}; {}, {} "
                            "each time, so faster code only waits longer{}",
                            period, readable_count(static_cast<std::int64_t>(arrivals.units)), where_it_slept(facts),
                            busy, readable_duration(arrivals.unit), within(found, waiting)));
        case ArrivalPattern::requests:
            return give_reason(
                found, Limit::no_load,
                fmt::format("{}: {}, {} apart on average; between them the thread that submits work slept{}{}", busy,
                            units(facts), period, where_it_slept(facts), within(found, waiting)));
        case ArrivalPattern::unproved:
            return give_reason(
                found, Limit::unknown,
                fmt::format("{}: {} start {}, and nothing of the host was recorded between them: no load, or host "
                            "code that was not recorded (record Python stacks or operating-system calls to "
                            "tell){}",
                            busy, units(facts),
                            arrivals.constant ? fmt::format("every {}", period)
                                              : fmt::format("at irregular times, {} apart on average", period),
                            within(found, unknown)));
        case ArrivalPattern::none: break;
    }
    if (waiting <= shares.kernel_of(Bound::unknown) + unknown) return;
    give_reason(
        found, Limit::unknown,
        fmt::format("the thread that submits work slept for {}{}; {}; whether it waited for requests, input or another "
                    "process was not recorded (record all threads and processes){}",
                    readable_duration(waiting), where_it_slept(facts), busy, within(found, waiting)));
}

}  // namespace gpuprof::answer
