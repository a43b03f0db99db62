// Units of counters, from counter_units.def: what a value is in the base unit of its kind.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpuprof::inline schema {

struct BaseUnit {
    double factor;     // of a value in the given unit
    std::string name;  // "ns", "byte", "byte/s", "hz", "inst/cycle"; "" for plain numbers
};

// The base unit of `unit`: "Kbyte/block" is 1000 byte/block, "cycle/nsecond" 1e9 hz. Absent if a part of the unit is no
// row of the table: then nothing may be computed from its values.
std::optional<BaseUnit> base_unit_of(std::string_view unit);

}  // namespace gpuprof::schema
