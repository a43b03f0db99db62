// The members of a trace's outermost object other than "traceEvents": device properties, the job, the time base, and
// facts about the recording, which become `meta` rows under their keys (members of an object as object.member).
#pragma once

#include <string_view>

#include "io/importers/kineto/block.h"
#include "io/importers/kineto/scan.h"

namespace gpuprof::inline importers::kineto {

// Takes one member. Members that it does not know become meta unchanged. False if a required number is invalid, which
// is then left absent.
bool read_header_member(std::string_view key, const RawValue& value, Block& block);

}  // namespace gpuprof::importers::kineto
