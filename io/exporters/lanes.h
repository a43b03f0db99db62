// Overlapping spans cannot share a track: they are distributed over as many lanes as needed.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"

namespace gpuprof::inline exporters {

struct PlacedSpan {
    TimeNs start, end;
    std::uint32_t table;  // any number that identifies the table to the caller
    Row row;
};

enum class Layout {
    nested,  // calls: one may be inside another on the same lane
    flat,    // device work: spans that run at the same time are on separate lanes
};

// By start; among equal starts, longest first.
void sort_outer_first(std::vector<PlacedSpan>& spans);

// Each lane in time order, outer spans before the spans inside them. A span goes to the first lane with room.
std::vector<std::vector<PlacedSpan>> lay_out(std::vector<PlacedSpan> spans, Layout layout);

}  // namespace gpuprof::exporters
