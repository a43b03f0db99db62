// Turns the images that a run left in its folder into a part of the recording, and says what was measured and what not.
#pragma once

#include <string>
#include <vector>

#include "collect/counters/counter_wire.h"

namespace gpuprof::inline cli {

// What the part becomes: the only source of the recording, or an addition to the trace of an earlier run of the same command.
enum class CounterPart { whole, with_trace };

// Does nothing without images. Prints notes. The part is one of the folder's files from then on. `program`: the command;
// its Python environment is searched for CUPTI. `processes`: of the trace that the part is added to.
void evaluate_counters(const std::string& folder, const std::string& program, CounterPart part,
                       const std::vector<counters::TracedProcess>& processes = {});
// Whether a file of the folder is such a part.
bool is_counter_part(const std::string& file);

}  // namespace gpuprof::cli
