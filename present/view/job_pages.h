// What the page of a job of many ranks shows: about its ranks, steps and stragglers (JSON), one matrix of cells per
// quantity, and steps as bars over ranks (JSON). docs/reference/formats/viewer.md describes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/facts/facts.h"
#include "core/format/column_encoder.h"

namespace gpuprof::inline view {

// A file holds few steps as bars; a server holds all of them.
enum class StepDetail : std::uint8_t { slowest, all };

// Cells as multiples of a quantum, absent where unknown.
struct QuantisedCells {
    double quantum = 1;
    std::vector<std::int32_t> values;
    std::vector<std::uint64_t> validity;

    static QuantisedCells of(const std::vector<double>& cells, double least_quantum);
    // A payload of the capture format: table job_cell, column value.
    std::string payload(EncodingGoal goal) const;
};

struct StepPage {
    std::size_t step = 0;  // index in `steps` of `about`
    std::string bars;
};

struct JobPages {
    std::string about;                  // empty: the recording is of no job
    std::vector<QuantisedCells> cells;  // as `quantities` of `about`
    std::vector<StepPage> steps;        // longest first
};

JobPages job_pages(const Facts& facts, StepDetail detail);

}  // namespace gpuprof::view
