#include "analyze/facts/steps/sufficiency.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analyze/facts/activity.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/idle/arrivals.h"
#include "analyze/facts/shares.h"
#include "analyze/facts/steps/missing_work.h"
#include "analyze/facts/validity.h"
#include "core/base/text/readable.h"
#include "core/model/build/graph_captures.h"

namespace gpuprof::inline facts {
namespace {

// Fewer kernels, or copies and fills without any kernel, than kSteadyOps show no steady work if they keep the device busy
// for less than kMinBusyPct of the window. What surrounds them does not count if they are kEnoughWork and keep the device
// busy for kDensePct from the first to the last: then that part is judged. With less, first uses decide: loading a module,
// starting a clock. Of public exports, six GEMMs of 27 ms with copies of 361 ms (A100, 99.9 % busy) and one kernel of
// 2.78 ms (RTX 4090, 28 %) can be judged; three kernels of 1.3 us and one fill in 426 ms cannot.
constexpr std::size_t kSteadyOps = 32;
constexpr double kMinBusyPct = 5, kDensePct = 20;  // percent of the window, of the part with work
constexpr DurNs kEnoughWork = 1'000'000;
// A call that takes this share of a window without work is what there is to say about it.
constexpr double kMainCall = 0.2;

struct WorkDone {
    std::size_t kernels = 0, graphs = 0, copies = 0, fills = 0;
    DurNs busy = 0, in_kernels = 0, in_copies = 0, in_fills = 0;  // of all devices
    Interval span{INT64_MAX, INT64_MIN};                          // from the first op to the last
};

// A graph that was recorded as a whole is a row of `kernel` without a launch shape.
bool is_whole_graph(const KernelTable& kernels, Row row) {
    return kernels.graph_id.has(row) && !kernels.grid_x.has(row);
}

WorkDone work_of(const Facts& facts) {
    WorkDone work;
    for (const DeviceActivity& device : facts.get<Activity>().devices) {
        work.kernels += device.kernels;
        work.copies += device.memcpys;
        work.fills += device.memsets;
        work.busy += length(device.busy);
        if (!device.busy.empty())
            work.span = {std::min(work.span.start, device.busy.front().start),
                         std::max(work.span.end, device.busy.back().end)};
        work.in_kernels += length(device.kernel());
        work.in_copies += length(device.memcpy);
        work.in_fills += length(device.memset);
    }
    const KernelTable& kernels = facts.trace().kernel();
    std::int64_t only = facts.options().device;
    for (Row row = 0; row < kernels.rows; ++row)
        work.graphs += (only < 0 || kernels.device.value_or(row, -1) == only) && is_whole_graph(kernels, row);
    work.graphs = std::min(work.graphs, work.kernels);
    work.kernels -= work.graphs;
    return work;
}

// "cudaFree took 119 ms": the calls of one name that take most time; "" if that is not much.
std::string main_call(const Trace& trace) {
    const ApiCallTable& calls = trace.api_call();
    std::map<StringId, DurNs> sums;
    for (Row row = 0; row < calls.rows; ++row)
        if (calls.name.has(row)) sums[calls.name[row]] += calls.dur[row];
    auto most = std::max_element(sums.begin(), sums.end(), [](auto& a, auto& b) { return a.second < b.second; });
    if (most == sums.end() ||
        static_cast<double>(most->second) < kMainCall * static_cast<double>(trace.window().length()))
        return "";
    return fmt::format(" ({} took {})", trace.text(most->first), readable_duration(most->second));
}

// What the host's annotated spans, operators or Python calls say about a window without device work: the outermost ones that
// take most time on one thread; "" if there are none.
template <class Table>
std::string main_span(const Trace& trace, const Table& spans) {
    std::map<StringId, TimeNs> end;                         // of each thread's outermost span so far
    std::map<std::pair<StringId, StringId>, DurNs> totals;  // by thread and name
    for (Row row = 0; row < spans.rows; ++row) {            // by start
        StringId thread = spans.thread.value_or(row, kNoString), name = spans.name.value_or(row, kNoString);
        auto [outer, first] = end.try_emplace(thread, INT64_MIN);
        if (name == kNoString || (!first && spans.start[row] < outer->second)) continue;
        outer->second = spans.start[row] + spans.dur[row];
        totals[{thread, name}] += spans.dur[row];
    }
    auto most = std::max_element(totals.begin(), totals.end(), [](auto& a, auto& b) { return a.second < b.second; });
    if (most == totals.end() || most->second <= 0) return "";
    DurNs window = trace.window().length();
    return fmt::format("; on the host, {} takes {} of {} ({} %)", trace.text(most->first.second),
                       readable_duration(most->second), readable_duration(window),
                       readable_percent(100 * static_cast<double>(most->second) / static_cast<double>(window)));
}

std::string without_device_work(const Trace& trace) {
    std::string host = main_span(trace, trace.range());
    if (host.empty()) host = main_span(trace, trace.op());
    if (host.empty()) host = main_span(trace, trace.tables().python_call);
    return why_no_device_work(trace) + host;
}

std::string too_little(const Facts& facts) {
    WorkDone work = work_of(facts);
    std::vector<std::string> ran;
    auto add = [&](std::string what, DurNs busy) {
        ran.push_back(fmt::format("{}{} {}", what, ran.empty() ? " ran for" : " for", readable_duration(busy)));
    };
    bool any = work.kernels + work.graphs > 0;
    std::string kernels = work.kernels > 0 ? readable_count(work.kernels, "kernel") : "";
    if (work.graphs > 0) kernels += (kernels.empty() ? "" : " and ") + readable_count(work.graphs, "CUDA graph");
    if (any) add(std::move(kernels), work.in_kernels);
    if (work.copies > 0) add(work.copies == 1 ? "1 copy" : fmt::format("{} copies", work.copies), work.in_copies);
    if (work.fills > 0) add(readable_count(work.fills, "fill"), work.in_fills);
    std::string list = ran.empty() ? "nothing ran" : ran.front();
    for (std::size_t i = 1; i < ran.size(); ++i) list += (i + 1 == ran.size() ? " and " : ", ") + ran[i];
    return fmt::format("{}{} of a {} window{}, too {} to characterise the program; record the part that repeats",
                       any ? "" : "no kernel ran; ", list, readable_duration(facts.get<Shares>().window),
                       main_call(facts.trace()), any ? "few" : "little");
}

}  // namespace

bool too_little_work(const Facts& facts) {
    const Trace& trace = facts.trace();
    if ((trace.kernel().rows > 0 ? trace.kernel().rows : trace.memcpy().rows + trace.memset().rows) >= kSteadyOps)
        return false;
    WorkDone work = work_of(facts);
    auto busy_below = [&](double percent, DurNs window) {
        auto devices = static_cast<double>(facts.get<Activity>().devices.size());
        return 100 * static_cast<double>(work.busy) < percent * static_cast<double>(window) * devices;
    };
    return busy_below(kMinBusyPct, trace.window().length()) &&
           (work.busy < kEnoughWork || busy_below(kDensePct, work.span.length()));
}

Sufficiency Sufficiency::make(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    const Trace& trace = facts.trace();
    if (std::string_view captures = trace.meta(kGraphCapture); !captures.empty())
        return {
            fmt::format(
                "this is the recording of a graph capture ({}), not of a program that runs: its launches do no work; "
                "open it together with the server's recording, whose graph kernels it names",
                captures),
            "this is the recording of a graph capture, not of a program that runs"};
    if (shares.busy == 0 || shares.effective <= 0)
        return {without_device_work(trace), "the trace contains no GPU work"};
    if (std::string why = facts.get<Validity>().contradiction(); !why.empty() && !work_missing(trace))
        return {why, "the recording contradicts itself"};
    if (work_missing(trace))
        return {fmt::format("at least {:.0f} % of the device work was not recorded, so apparent idle time may have "
                            "been busy; {} (see `losses`)",
                            100 * trace.completeness().missing_share(), how_to_record_all(trace)),
                "much of the device work was not recorded"};
    if (too_little_work(facts)) return {too_little(facts), "too few kernels ran to characterise the program"};
    DurNs recorder = shares.idle_of(IdleCause::profiler) + shares.host_idle_doubtful;
    if (2 * recorder > shares.window)
        return {fmt::format("the profiler's own overhead may be {} of the {} window, more than half; record less "
                            "(no Python stacks, no shapes) or use gpu-profile record",
                            readable_duration(recorder), readable_duration(shares.window)),
                "the profiler's own overhead may be most of the window"};
    if (facts.get<Arrivals>().pattern == ArrivalPattern::paced)
        return {"", fmt::format("work starts every {}, so a host that is faster only waits longer",
                                readable_duration(facts.get<Arrivals>().period))};
    return {};
}

}  // namespace gpuprof::facts
