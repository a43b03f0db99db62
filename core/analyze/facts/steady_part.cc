#include "core/analyze/facts/steady_part.h"

#include <algorithm>

#include "core/analyze/facts/facts.h"
#include "core/analyze/facts/step_finder.h"
#include "core/schema/facts.h"

namespace gpuprof {
namespace {

constexpr std::size_t kFewest = 32;  // kernels
constexpr double kMost = 0.8;        // of the window: above it the whole is as good
constexpr std::size_t kFewestSteps = 4;
constexpr DurNs kWarmUp = 2;  // times the median step: a step in front that takes longer is one of warming up

// Where the first step begins that is like the others; none when too few are. What lies before the first of all counts as a step.
std::optional<TimeNs> first_usual_step(const std::vector<Step>& steps, TimeNs begin) {
    if (steps.size() < kFewestSteps) return std::nullopt;
    std::vector<DurNs> lengths;
    for (const Step& step : steps) lengths.push_back(step.end - step.start);
    auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    std::size_t first = 0;
    while (first < steps.size() / 2 && (steps[first].end - steps[first].start) / kWarmUp > *middle) ++first;
    if (first == 0 && (steps[0].start - begin) / kWarmUp <= *middle) return begin;
    return steps[first].start;
}

TimeNs begin_of_work(const Trace& trace) {
    TimeNs begin = trace.window().end;
    auto extend = [&](const auto& table) {
        if (table.rows > 0) begin = std::min(begin, table.start[0]);
    };
    extend(trace.kernel());
    extend(trace.memcpy());
    extend(trace.memset());
    return begin;
}

TimeNs end_of_work(const Trace& trace) {
    TimeNs end = trace.window().start;
    auto extend = [&](const auto& table) {
        for (Row row = 0; row < table.rows; ++row) end = std::max(end, table.start[row] + table.dur[row]);
    };
    extend(trace.kernel());
    extend(trace.memcpy());
    extend(trace.memset());
    return end;
}

}  // namespace

std::optional<Interval> busy_part(const Trace& trace) {
    const KernelTable& kernels = trace.kernel();
    if (kernels.rows < kFewest) return std::nullopt;
    auto start = [&](std::size_t i) { return kernels.start[static_cast<Row>(i)]; };
    std::size_t within = kernels.rows - kernels.rows / 4, first = 0;
    for (std::size_t i = 0; i + within <= kernels.rows; ++i)
        if (start(i + within - 1) - start(i) < start(first + within - 1) - start(first)) first = i;
    std::size_t last = first + within - 1;
    DurNs longest = 0;
    for (std::size_t i = first + 1; i <= last; ++i) longest = std::max(longest, start(i) - start(i - 1));
    DurNs pause = longest + longest / 2;  // steps are not all alike
    while (first > 0 && start(first) - start(first - 1) <= pause) --first;
    while (last + 1 < kernels.rows && start(last + 1) - start(last) <= pause) ++last;
    Interval part{start(first), start(last) + kernels.dur[static_cast<Row>(last)]};
    bool most = static_cast<double>(part.length()) > kMost * static_cast<double>(trace.window().length());
    return most ? std::nullopt : std::optional(part);
}

SteadyPart SteadyPart::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    Interval whole = trace.window();
    const std::vector<Step>& steps = facts.get<Steps>().steps;
    if (std::optional<TimeNs> first = first_usual_step(steps, whole.start))
        return {{*first, std::max(steps.back().end, std::min(whole.end, end_of_work(trace)))}};
    if (std::optional<Interval> busy = busy_part(trace)) return {*busy};
    if (trace.kernel().rows == 0) return {whole};
    return {
        {trace.kernel().start[static_cast<Row>(trace.kernel().rows / 10)], std::min(whole.end, end_of_work(trace))}};
}

std::size_t kernels_within(const Trace& trace, Interval part) {
    const TimeNs *begin = trace.kernel().start.values(), *end = begin + trace.kernel().rows;
    return static_cast<std::size_t>(std::lower_bound(begin, end, part.end) - std::lower_bound(begin, end, part.start));
}

std::optional<Interval> part_for_first_answer(const Facts& facts) {
    const Trace& trace = facts.trace();
    Interval part = trace.window();
    const std::vector<Step>& steps = facts.get<Steps>().steps;
    std::optional<TimeNs> first = first_usual_step(steps, part.start);
    if (first && kernels_within(trace, {*first, part.end}) >= kFewest) {
        part = {*first, std::max(steps.back().end, std::min(part.end, end_of_work(trace)))};
    } else if (std::optional<Interval> busy = busy_part(trace)) {
        // Only our own recorder begins with its program; what others leave out of the busy part has to be more than a pause.
        bool from_start = trace.origin().tool == fact::kRecorderTool;
        if (from_start || 2 * busy->length() < part.length()) part = *busy;
    }
    // Without steps nothing says that the time before the first work is more than setting up.
    if (!first) part = {std::max(part.start, begin_of_work(trace)), std::min(part.end, end_of_work(trace))};
    bool most = static_cast<double>(part.length()) > kMost * static_cast<double>(trace.window().length());
    return most || part.length() <= 0 ? std::nullopt : std::optional(part);
}

}  // namespace gpuprof
