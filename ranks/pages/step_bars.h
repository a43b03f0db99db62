// One step of one rank as a bar on the common clock: what the rank did before each collective that it waited for, how
// long it waited there, and the transfer. How the parts between two collectives alternate is not in the summaries, only
// their sums: here they follow each other in the order of BarPart.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyze/facts/facts.h"
#include "core/model/interval.h"

namespace gpuprof::inline ranks {

// transfer: the rest of collectives without compute.
enum class BarPart : std::uint8_t { input, host, unknown, copy, compute, wait, transfer };
inline constexpr std::size_t kBarParts = 7;
// "input", "host", ...
std::string_view name_of(BarPart part);

struct BarSpan {
    DurNs dur = 0;
    BarPart part = BarPart::compute;
};

struct StepBar {
    std::uint32_t rank = 0;               // index in Job::ranks
    Interval window;                      // on the common clock
    std::vector<BarSpan> spans;           // without a hole, from the start of the window to its end
    std::array<DurNs, kBarParts> sums{};  // of spans
};

// Of ranks that recorded the step: `rank` indexes Job::ranks, `step` is a number. At most `most` spans: where there
// are more, the window is cut into as many slots, each with the part that takes most of it; sums are of all spans.
StepBar step_bar(const Facts& facts, std::uint32_t rank, std::int64_t step, std::size_t most);

// Whether the rank recorded the step.
bool has_step(const Facts& facts, std::uint32_t rank, std::int64_t step);

}  // namespace gpuprof::ranks
