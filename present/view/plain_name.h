// The name of an event without the number of the instance: step#12 is step*, and aten::add, op_id = 7 is aten::add. The
// same rules as web/model/recording/plain_name.ts.
#pragma once

#include <string>
#include <string_view>

namespace gpuprof::inline view {

std::string plain_name(std::string_view name);

}  // namespace gpuprof::view
