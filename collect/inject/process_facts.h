// What is worth knowing of the process itself: its id, program, command line (secrets removed, or left out), host and rank.
#pragma once

#include "collect/inject/spool_file.h"

namespace gpuprof::inject {

void write_process_facts(SpoolFile& file) noexcept;

}  // namespace gpuprof::inject
