// The first answer to "where did the time go": everything on one screen, put together from the analyses.
#pragma once

#include "analyze/facts/facts.h"
#include "core/base/result.h"
#include "core/model/answer.h"

namespace gpuprof::inline answer {

// ExitCode::empty when the trace holds no event at all; a trace without device work has an answer that says so.
Result<Answer> make_answer(const Facts& facts);
// Of a recording without a timeline: what it has. make_answer() asks it where that is so.
Result<Answer> answer_without_timeline(const Facts& facts);

}  // namespace gpuprof::answer
