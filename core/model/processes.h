// Gives device rows their process if the recorder names none (Kineto files them under the device): that of the call
// with their correlation id. If several processes have a call with that id, the row stays without a process.
#pragma once

#include "core/base/string_pool.h"
#include "core/model/tables.h"

namespace gpuprof::inline model {

// Fills absent values of `process` in kernel, memcpy, memset, sync and collective. A trace whose calls belong to one
// process, or that knows only one process, needs no matching.
void adopt_processes(Tables& tables);

// Whether the key of a process says who it is in every recording: HOST:PID.
bool is_host_and_pid(const ProcessTable& process, const StringPool& strings, Row row);

}  // namespace gpuprof::model
