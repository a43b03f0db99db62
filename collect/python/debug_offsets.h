// CPython 3.13 and 3.14 begin _PyRuntime with a description of their structures for tools in other processes:
// _Py_DebugOffsets, Include/internal/pycore_debug_offsets.h of each version (3.13: pycore_runtime.h). The description is
// an array of 64-bit words, one group per structure, beginning with its size. Which word is what changes between minor
// versions, not within one after its first release candidate. Builds without the interpreter lock (3.13t, 3.14t)
// have the same words with other values.
#pragma once

#include <optional>

#include "collect/python/layout.h"

namespace gpuprof::python {

// The layout described at `runtime`; absent if there is no description, or an implausible one, or one of a version whose
// words are unknown (a preview, or later than 3.14).
std::optional<Layout> read_layout(Memory& memory, Address runtime);

}  // namespace gpuprof::python
