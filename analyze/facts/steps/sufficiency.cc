#include "analyze/facts/steps/sufficiency.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/facts/facts.h"
#include "analyze/facts/idle/arrivals.h"
#include "analyze/facts/shares.h"
#include "analyze/facts/steps/missing_work.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline facts {
namespace {

// A recording with fewer kernels than kSteadyKernels and a device less busy than kMinBusyPct shows no steady work.
constexpr std::size_t kSteadyKernels = 32;
constexpr double kMinBusyPct = 5;  // percent of the window

// A part of a recording is judged like the whole.
bool barely_busy(const Shares& shares, const Trace& trace) {
    double whole = static_cast<double>(trace.full_window().length()) *
                   static_cast<double>(std::max<std::size_t>(1, shares.devices));
    return 100 * static_cast<double>(shares.busy) < kMinBusyPct * whole;
}

}  // namespace

Sufficiency Sufficiency::make(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    const Trace& trace = facts.trace();
    if (shares.busy == 0 || shares.effective <= 0) return {why_no_device_work(trace), "the trace contains no GPU work"};
    if (work_missing(trace))
        return {fmt::format("at least {:.0f} % of the device work was not recorded, so apparent idle time may have "
                            "been busy; {} (see `losses`)",
                            100 * trace.completeness().missing_share(), how_to_record_all(trace)),
                "much of the device work was not recorded"};
    DurNs recorder = shares.idle_of(IdleCause::profiler) + shares.host_idle_doubtful;
    if (2 * recorder > shares.window)
        return {fmt::format("the profiler's own overhead may be {} of the {} window, more than half; record less "
                            "(no Python stacks, no shapes) or use gpu-profile record",
                            readable_duration(recorder), readable_duration(shares.window)),
                "the profiler's own overhead may be most of the window"};
    if (trace.kernel().rows < kSteadyKernels && barely_busy(shares, trace))
        return {fmt::format("{} kernel{} ran for {} of a {} window, too few to characterise the program; record the "
                            "part that repeats",
                            trace.kernel().rows, trace.kernel().rows == 1 ? "" : "s", readable_duration(shares.busy),
                            readable_duration(shares.window)),
                "too few kernels ran to characterise the program"};
    if (facts.get<Arrivals>().pattern == ArrivalPattern::paced)
        return {"", fmt::format("work starts every {}, so a host that is faster only waits longer",
                                readable_duration(facts.get<Arrivals>().period))};
    return {};
}

}  // namespace gpuprof::facts
