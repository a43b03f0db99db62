// Options of analyses, from options.def.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "core/schema/options.def"

namespace gpuprof::inline schema {

namespace option_type {
using i64 = std::int64_t;
using f64 = double;
using str = std::string;
}  // namespace option_type

// An option by its name.
enum class AnalysisOption : std::uint8_t {
#define GPUPROF_OPTION_NAME(name, type, initial, value, doc) name,
    GPUPROF_OPTIONS(GPUPROF_OPTION_NAME)
#undef GPUPROF_OPTION_NAME
};

// Which options: those that an analysis reads, or that a user gave.
class OptionSet {
public:
    constexpr OptionSet() = default;
    constexpr OptionSet(std::initializer_list<AnalysisOption> options) {
        for (AnalysisOption each : options) add(each);
    }
    constexpr void add(AnalysisOption option) { bits_ |= 1U << static_cast<unsigned>(option); }
    constexpr bool has(AnalysisOption option) const { return (bits_ >> static_cast<unsigned>(option) & 1U) != 0; }

private:
    std::uint32_t bits_ = 0;
};

struct Options {
#define GPUPROF_OPTION_FIELD(name, type, initial, value, doc) option_type::type name = initial;
    GPUPROF_OPTIONS(GPUPROF_OPTION_FIELD)
#undef GPUPROF_OPTION_FIELD
};

}  // namespace gpuprof::schema
