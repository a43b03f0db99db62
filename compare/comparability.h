// Whether two recordings are comparable: what differs besides the program. Each difference is a sentence; different
// devices invalidate every conclusion about the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compare/compared_run.h"
#include "compare/comparison_warnings.def"
#include "core/model/answer.h"

namespace gpuprof::compare {

enum class Warning {
#define GPUPROF_COMPARE_WARNING(code, doc) code,
    GPUPROF_COMPARE_WARNINGS(GPUPROF_COMPARE_WARNING)
#undef GPUPROF_COMPARE_WARNING
};

struct WarningSpec {
    std::string_view name, doc;
};
inline constexpr WarningSpec kWarnings[] = {
#define GPUPROF_COMPARE_WARNING(code, doc) {#code, doc},
    GPUPROF_COMPARE_WARNINGS(GPUPROF_COMPARE_WARNING)
#undef GPUPROF_COMPARE_WARNING
};

struct Comparability {
    bool same_hardware = true;  // or unknown
    std::vector<Trust::Statement> statements;
};

Comparability comparability_of(const Run& base, const Run& next);

// A sentence about a different recorder, or about details recorded on one side only: "only NEW recorded Python calls,
// operator shapes". Empty if both were recorded the same way.
std::string recorders_differ(const Run& base, const Run& next);

// Upper bound of how much shorter a step would be without the recorder, in ns: its own work, and the waiting for the
// host that it explains. `other` was recorded differently.
double recorder_cost(const Run& run, const Run& other);

// "NVIDIA H200, 132 SMs, 140 GiB; ...": the devices with work. Empty if their names are not recorded.
std::string hardware_of(const Run& run);

}  // namespace gpuprof::compare
