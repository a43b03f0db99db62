// Options of analyses, from options.def.
#pragma once

#include <cstdint>
#include <string>

#include "core/schema/options.def"

namespace gpuprof::inline schema {

namespace option_type {
using i64 = std::int64_t;
using f64 = double;
using str = std::string;
}  // namespace option_type

struct Options {
#define GPUPROF_OPTION_FIELD(name, type, initial, value, doc) option_type::type name = initial;
    GPUPROF_OPTIONS(GPUPROF_OPTION_FIELD)
#undef GPUPROF_OPTION_FIELD
};

}  // namespace gpuprof::schema
