// Facts about the process itself: its id, program, command line (without secrets, or omitted), host and rank.
#pragma once

#include "collect/inject/spool_file.h"

namespace gpuprof::inject {

void write_process_facts(SpoolFile& file) noexcept;

}  // namespace gpuprof::inject
