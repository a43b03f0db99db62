// Why a recording has no device work, or lacks much of it: what the file and its recorder say of it, before what could
// have been recorded differently.
#pragma once

#include <string>

#include "core/model/trace.h"

namespace gpuprof::inline facts {

// Of a trace without device work: why, and what to do, in one sentence.
std::string why_no_device_work(const Trace& trace);

// Of a trace that lacks some of its device work: what to do, as the end of a sentence.
std::string how_to_record_all(const Trace& trace);

}  // namespace gpuprof::facts
