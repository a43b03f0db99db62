// Secrets in what other recorders stored: command lines and facts about the recording. TraceBuilder::finish() removes them from
// every trace, so that no report shows them and no export carries them on.
#pragma once

#include "core/base/string_pool.h"
#include "core/model/tables.h"

namespace gpuprof {

// In process.name (Nsight Systems stores command lines there), process.command and meta.value; a value of `meta` whose key names a
// secret is replaced as a whole.
void remove_secrets(Tables& tables, StringPool& strings);

}  // namespace gpuprof
