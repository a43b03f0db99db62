// The derived links between rows of a trace: which call submitted a device op.
// Computed once by TraceBuilder::finish() from process and correlation id; never stored in files. Several device ops may
// share a call (a graph launch); a correlation id that several calls carry belongs to the first of them.
#pragma once

#include <cstdint>

#include "core/base/ids.h"
#include "core/base/pod_vector.h"

namespace gpuprof {

// Each array has one entry per row of the table it starts at; kNoRow where there is no such row.
struct Links {
    PodVector<Row> kernel_launch;  // kernel -> api_call with its correlation id
    PodVector<Row> memcpy_launch;  // memcpy -> api_call
    PodVector<Row> memset_launch;  // memset -> api_call
};

struct LinkCounts {
    std::uint64_t duplicate_correlations = 0;  // calls whose id an earlier call of the process had
    std::uint64_t unmatched = 0;               // device ops whose call is not in the trace
};

struct Tables;
Links link_launches(const Tables& tables, LinkCounts& counts);

}  // namespace gpuprof
