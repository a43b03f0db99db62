#include "core/analyze/facts/judgeable.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analyze/facts/completeness.h"
#include "core/analyze/facts/facts.h"
#include "core/analyze/facts/shares.h"
#include "core/base/readable.h"

namespace gpuprof {
namespace {

// A recording with fewer kernels than this that keep the device less busy than that shows no steady work.
constexpr std::size_t kFewKernels = 32;
constexpr double kHardlyBusy = 5;  // percent of the window

std::string why_no_device_work(const Trace& trace) {
    const Completeness& complete = trace.completeness();
    if (complete.without_work() > 0)
        return fmt::format("none of the work of {} calls that submit some was recorded; record with GPU activities on",
                           readable_count(static_cast<std::int64_t>(complete.without_work())));
    return trace.op().rows + trace.api_call().rows > 0
               ? "the trace holds host work but no GPU work; record with GPU activities on"
               : "the trace holds no GPU work";
}

// A part is judged as what it was cut from.
bool hardly_busy(const Shares& shares, const Trace& trace) {
    double whole =
        static_cast<double>(trace.whole().length()) * static_cast<double>(std::max<std::size_t>(1, shares.devices));
    return 100 * static_cast<double>(shares.busy) < kHardlyBusy * whole;
}

}  // namespace

Judgeable Judgeable::make(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    const Trace& trace = facts.trace();
    if (shares.busy == 0 || shares.effective <= 0) return {why_no_device_work(trace), "the trace holds no GPU work"};
    if (much_missing(trace))
        return {
            fmt::format("at least {:.0f} % of the device work was not recorded, so time that seems idle may have "
                        "been busy; record a shorter part or with larger buffers, and let the program end by itself "
                        "(`losses`)",
                        100 * trace.completeness().missing_share()),
            "much of the device work was not recorded"};
    DurNs recorder = shares.idle_of(IdleCause::profiler) + shares.host_idle_doubtful;
    if (2 * recorder > shares.window)
        return {
            fmt::format("the profiler's own cost may be {} of the {} window, more than what remains; record with less "
                        "(no Python stacks, no shapes) or with gpu-profile record",
                        readable_duration(recorder), readable_duration(shares.window)),
            "the profiler's own cost may be most of the window"};
    if (trace.kernel().rows < kFewKernels && hardly_busy(shares, trace))
        return {fmt::format("{} kernels ran for {} of a {} window, too few to show how the program works; record the "
                            "part that repeats",
                            trace.kernel().rows, readable_duration(shares.busy), readable_duration(shares.window)),
                "too few kernels ran to show how the program works"};
    return {};
}

}  // namespace gpuprof
