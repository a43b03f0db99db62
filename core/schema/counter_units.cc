#include "core/schema/counter_units.h"

#include "core/schema/counter_units.def"

namespace gpuprof::inline schema {
namespace {

struct UnitName {
    std::string_view name, base;
    double factor;
};

#define GPUPROF_UNIT(name, base, factor) {name, base, factor},
constexpr UnitName kUnitNames[] = {GPUPROF_COUNTER_UNITS(GPUPROF_UNIT)};
#undef GPUPROF_UNIT

const UnitName* find_unit(std::string_view name) {
    for (const UnitName& unit : kUnitNames)
        if (unit.name == name) return &unit;
    return nullptr;
}

}  // namespace

std::optional<BaseUnit> base_unit_of(std::string_view unit) {
    if (unit.empty()) return BaseUnit{1, ""};
    constexpr double kNsPerSecond = 1e9;
    std::size_t slash = unit.find('/');
    const UnitName* above = find_unit(unit.substr(0, slash));
    if (above == nullptr) return std::nullopt;
    if (slash == std::string_view::npos) return BaseUnit{above->factor, std::string(above->base)};
    const UnitName* below = find_unit(unit.substr(slash + 1));
    if (below == nullptr) return std::nullopt;
    double factor = above->factor / below->factor;
    if (below->base != "ns") return BaseUnit{factor, std::string(above->base) + "/" + std::string(below->base)};
    return BaseUnit{factor * kNsPerSecond, above->base == "cycle" ? "hz" : std::string(above->base) + "/s"};
}

}  // namespace gpuprof::schema
