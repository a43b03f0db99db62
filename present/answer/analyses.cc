#include "present/answer/analyses.h"

#include <algorithm>

#include "analyze/tables/analysis_list.h"
#include "ranks/tables/job_analyses.h"

namespace gpuprof::inline answer {
namespace {

#define GPUPROF_ALL_ANALYSES(GROUP, ANALYSIS)          \
    GROUP("The answer",                                \
          "`summary` is what report shows by itself; " \
          "`findings` has each finding in full.")      \
    ANALYSIS(Summary)                                  \
    ANALYSIS(Findings)                                 \
    GPUPROF_ANALYSES_OF_WORK(GROUP, ANALYSIS)          \
    GPUPROF_ANALYSES_OF_MEASUREMENTS(GROUP, ANALYSIS)  \
    GPUPROF_ANALYSES_OF_JOBS(GROUP, ANALYSIS)

#define GPUPROF_ANALYSIS_ADDRESS(Name) &k##Name,
#define GPUPROF_NOTHING(heading, doc)
constexpr const Analysis* kAnalyses[] = {GPUPROF_ALL_ANALYSES(GPUPROF_NOTHING, GPUPROF_ANALYSIS_ADDRESS)};

#define GPUPROF_ANALYSIS_LISTED(Name) {"", "", &k##Name},
#define GPUPROF_GROUP_LISTED(heading, doc) {heading, doc, nullptr},
constexpr ListedAnalysis kListed[] = {GPUPROF_ALL_ANALYSES(GPUPROF_GROUP_LISTED, GPUPROF_ANALYSIS_LISTED)};

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
std::span<const ListedAnalysis> listed_analyses() { return kListed; }

const Analysis* find_analysis(std::string_view name) {
    for (const Analysis* analysis : kAnalyses)
        if (analysis->name == name || has_word(analysis->aliases, name)) return analysis;
    return nullptr;
}

}  // namespace gpuprof::answer
