#include "present/answer/analyses.h"

#include <algorithm>

#include "analyze/tables/analysis_list.h"
#include "ranks/tables/job_analyses.h"

namespace gpuprof::inline answer {
namespace {

#define GPUPROF_ANALYSIS_ADDRESS(Name) &k##Name,
// clang-format off
constexpr const Analysis* kAnalyses[] = {
    GPUPROF_ANALYSES_OF_WORK(GPUPROF_ANALYSIS_ADDRESS)
    GPUPROF_ANALYSES_OF_JOBS(GPUPROF_ANALYSIS_ADDRESS)
    GPUPROF_ANALYSES_OF_MEASUREMENTS(GPUPROF_ANALYSIS_ADDRESS)
    &kFindings, &kSummary};
// clang-format on

// Whether `word` is one of the space-separated words of `list`.
bool has_word(std::string_view list, std::string_view word) {
    while (!list.empty()) {
        std::size_t end = std::min(list.find(' '), list.size());
        if (list.substr(0, end) == word) return true;
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return false;
}

}  // namespace

std::span<const Analysis* const> analyses() { return kAnalyses; }

const Analysis* find_analysis(std::string_view name) {
    for (const Analysis* analysis : kAnalyses)
        if (analysis->name == name || has_word(analysis->aliases, name)) return analysis;
    return nullptr;
}

}  // namespace gpuprof::answer
