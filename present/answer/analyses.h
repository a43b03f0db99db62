// All analyses: the tables, and the two of this layer.
#pragma once

#include "analyze/tables/analysis.h"

namespace gpuprof::inline answer {

// In the order of the reference page.
std::span<const Analysis* const> analyses();
// The same in groups, for people: a heading and a sentence, and then its analyses.
struct ListedAnalysis {
    std::string_view heading, doc;  // of a group
    const Analysis* analysis;       // null: a group begins
};
std::span<const ListedAnalysis> listed_analyses();
// Finds an analysis by name or alias; null if unknown.
const Analysis* find_analysis(std::string_view name);

extern const Analysis kFindings, kSummary;

}  // namespace gpuprof::answer
