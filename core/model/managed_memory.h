// Managed memory (cudaMallocManaged): pages migrate to the CPU or GPU that accesses them. A migration is a row of `memcpy`.
#pragma once

#include <string_view>

#include "core/model/tables.h"

namespace gpuprof::inline model {

inline constexpr std::string_view kManagedMemory = "managed";

// Copies from managed to managed memory that no call submitted. `managed`: kManagedMemory in the strings of the table.
inline bool is_migration(const MemcpyTable& copies, Row copy, StringId managed) {
    return managed != kNoString && copies.src.value_or(copy, kNoString) == managed &&
           copies.dst.value_or(copy, kNoString) == managed && copies.correlation.value_or(copy, 0) == 0;
}

}  // namespace gpuprof::model
