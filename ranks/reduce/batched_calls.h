// Private to kernel_calls.cc: the calls of batches whose records name no kernel.
#pragma once

#include <unordered_map>
#include <vector>

#include "analyze/facts/host/collective_records.h"

namespace gpuprof::inline ranks {

// Rows of table collective by the row of the api_call that launched their kernel.
std::unordered_map<Row, std::vector<Row>> batched_calls(const Trace& trace, const CollectiveRecords& records);

}  // namespace gpuprof::ranks
