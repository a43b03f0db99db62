// The reference page as tables, generated from the declarations: in sections for people, flat for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/result_table.h"

namespace gpuprof::inline cli {

struct Section {
    int level;  // 1: a chapter, 2: a table in it
    std::string title;
    std::string doc;
    std::optional<ResultTable> table;
};

std::vector<Section> reference_sections();
// The tables of the sections, and what only programs need: rules, counter_sets, sql_checks, json_values.
std::vector<ResultTable> reference_tables();

}  // namespace gpuprof::cli
