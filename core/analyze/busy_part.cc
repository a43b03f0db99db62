#include "core/analyze/busy_part.h"

#include <algorithm>

#include "core/schema/facts.h"

namespace gpuprof {
namespace {

constexpr std::size_t kFewest = 32;  // kernels
constexpr double kMost = 0.8;        // of the window: above it the whole is as good

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

std::optional<Interval> part_for_first_answer(const Trace& trace) {
    return trace.origin().tool == fact::kRecorderTool ? busy_part(trace) : std::nullopt;
}

}  // namespace gpuprof
