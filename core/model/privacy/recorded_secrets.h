// Secrets in data stored by other recorders: command lines and facts about the recording. TraceBuilder::finish()
// removes them from every trace, so that no report shows them and no export contains them.
#pragma once

#include "core/base/string_pool.h"
#include "core/model/tables.h"

namespace gpuprof::inline model {

// In process.name (Nsight Systems stores command lines there), process.command and meta.value. A `meta` value whose key
// names a secret is replaced whole.
void remove_secrets(Tables& tables, StringPool& strings);

}  // namespace gpuprof::model
