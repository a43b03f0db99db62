// The derived links between rows of a trace: which call submitted a device op.
// Computed once by TraceBuilder::finish() from process and correlation id; never stored in files. Several device ops
// may share a call (a graph launch); a correlation id of several calls belongs to the first of them.
#pragma once

#include <cstdint>

#include "core/base/ids.h"
#include "core/base/pod_vector.h"

namespace gpuprof::inline base {
class StringPool;
}

namespace gpuprof::inline model {

struct LinkCounts {
    std::uint64_t duplicate_correlations = 0;  // calls whose id an earlier call of the process had, and device work too
    // Device ops whose call is not in the trace, by what is known about it. Recorders number calls consecutively.
    // Migrations of managed memory have no call.
    std::uint64_t ops_before_calls = 0;  // its id is below those of all recorded calls of the process
    std::uint64_t ops_without_call = 0;  // other calls of the process were recorded, before and after it
    std::uint64_t ops_uncheckable = 0;   // no calls of the process were recorded, or the op has no id

    std::uint64_t unmatched() const { return ops_before_calls + ops_without_call + ops_uncheckable; }
};

// Each array has one entry per row of its source table; kNoRow if there is no such row.
struct Links {
    PodVector<Row> kernel_launch;  // kernel -> api_call with its correlation id
    PodVector<Row> memcpy_launch;  // memcpy -> api_call
    PodVector<Row> memset_launch;  // memset -> api_call
    LinkCounts counts;
};

struct Tables;
Links link_launches(const Tables& tables, const StringPool& strings);

}  // namespace gpuprof::model
