// The dot commands of `query`: which tables and columns exist, with units and meaning.
#pragma once

#include "core/query/catalogue.h"
#include "core/report/report.h"

namespace gpuprof {

bool is_dot_command(std::string_view text);
// .tables, .schema [TABLE], .functions, .help
Status run_dot_command(Catalogue& catalogue, std::string_view text, const Style& style, Sink& sink);

}  // namespace gpuprof
