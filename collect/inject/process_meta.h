// Facts about the process itself: its id, program, command line (without secrets, or omitted), host and rank.
#pragma once

#include <cstdint>

#include "collect/inject/spool/spool_file.h"

namespace gpuprof::inject {

// Which file of its process it is, if the process deletes some of them (core/format/spool.h).
struct PartNumber {
    std::uint64_t number;  // from 0
    std::int64_t first;    // when the first one was created, CLOCK_REALTIME: an exec'd program starts over
};
void write_process_meta(SpoolFile& file, const PartNumber* part = nullptr) noexcept;

}  // namespace gpuprof::inject
