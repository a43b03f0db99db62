// What the numbers of a trace are based on, as sentences: what was recorded and by which tool, what was lost, what the
// recording cost, and what was not recorded and is therefore unknown.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analyze/facts/facts.h"
#include "core/model/answer.h"
#include "core/schema/losses.h"

namespace gpuprof::inline answer {

// For a recording without a timeline: the tables it holds, and its losses.
Trust trust_without_timeline(const Trace& trace);

// How much of a kind a recording lost.
std::uint64_t count_of(const Trace& trace, Loss kind);

// How many ranks of a job a recording adds up; 0 if its processes name none.
std::size_t ranks_added_up(const Trace& trace);

// `about_idle`: the answer speaks of idle time, so the part that the recorder caused is stated.
Trust trust_of(const Facts& facts, bool about_idle);

}  // namespace gpuprof::answer
