// Turns the images that a run left in its folder into a part of the recording, and says what was measured and what not.
#pragma once

#include <string>

namespace gpuprof {

// What the part becomes: the only source of the recording, or an addition to the trace of an earlier run of the same command.
enum class CounterPart { whole, beside_trace };

// Does nothing without images. Prints notes. The part is one of the folder's files from then on. `program`: the command;
// its Python environment is searched for CUPTI. `process`: the key of the process that all measurements belong to; "":
// their own.
void evaluate_counters(const std::string& folder, const std::string& program, CounterPart part,
                       const std::string& process = "");
// Whether a file of the folder is such a part.
bool is_counter_part(const std::string& file);

}  // namespace gpuprof
