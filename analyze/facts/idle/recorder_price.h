// What the records of this recording cost the program: constants of the tool, and instead of them what the recorder measured.
#pragma once

#include "analyze/facts/facts.h"
#include "analyze/knowledge/known_record_cost.h"

namespace gpuprof::inline facts {

struct RecorderPrice {
    RecordPrice price;
    bool measured = false;  // price.call is of this recording

    static RecorderPrice make(const Facts& facts);
};

}  // namespace gpuprof::facts
