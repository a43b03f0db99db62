// The members of a trace's outermost object other than "traceEvents": device properties, the job, the time base, and facts
// about the recording, which become `meta` rows under the keys of the file (members of an object as object.member).
#pragma once

#include <string_view>

#include "core/importers/kineto/block.h"
#include "core/importers/kineto/scan.h"

namespace gpuprof::kineto {

// Takes in one member. What it does not understand becomes meta as it stands. False when a number it needs is none; it is
// left absent then.
bool read_header_member(std::string_view key, const RawValue& value, Block& block);

}  // namespace gpuprof::kineto
