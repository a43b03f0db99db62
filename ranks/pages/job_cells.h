// What each rank did in each step, as one matrix per quantity: the cells of a heat map of the job.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyze/facts/facts.h"
#include "core/schema/unit.h"

namespace gpuprof::inline ranks {

struct JobQuantity {
    std::string_view name, title, doc;
    Unit unit = Unit::ns;
    bool low_is_bad = false;
    bool compares = false;           // with other ranks: 0 is usual
    std::vector<double> cells = {};  // by rank of Job::ranks, then step of Job::steps; NaN: unknown
};

struct JobCells {
    std::vector<bool> recorded;           // whether the rank recorded the step; order as in cells
    std::vector<JobQuantity> quantities;  // those with a value
    std::vector<DurNs> longest;           // by step: its length on the rank where it took longest

    static JobCells make(const Facts& facts);
};

}  // namespace gpuprof::ranks
