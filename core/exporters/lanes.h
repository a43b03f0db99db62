// Spans that overlap cannot stand on one track: they are laid out on as many lanes as it takes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"

namespace gpuprof {

struct Placed {
    TimeNs start, end;
    std::uint32_t table;  // whatever the caller knows it by
    Row row;
};

enum class Layout {
    nested,  // calls: one may lie inside another, on the same lane
    flat,    // device work: what runs at the same time is side by side
};

// By start; of those that start together the longest first.
void sort_outer_first(std::vector<Placed>& spans);

// Each lane in the order of time, outer spans before what lies in them. Spans go to the first lane that has room.
std::vector<std::vector<Placed>> lay_out(std::vector<Placed> spans, Layout layout);

}  // namespace gpuprof
