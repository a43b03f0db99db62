// What the texts of a column tell of people, machines and programs, as privacy.def declares it.
#pragma once

#include <string_view>

#include "core/schema/schema.h"

namespace gpuprof {

enum class Privacy {
    open,
    identity,
    host,
    device,
    program,
    thread,
    stack,
    op,
    range,
    kernel,
    scope,
    arguments,
    fact,
    removed
};

// Of a text column of tables.def; every one is declared, which the compiler checks.
Privacy privacy_of(std::string_view table, std::string_view column);

}  // namespace gpuprof
