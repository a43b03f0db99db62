// What the collectives of a Kineto file can be given only once the whole file was read: the ranks of groups whose list
// was cut, and the keys that Kineto did not copy from the host's record to the kernel's.
#pragma once

#include <span>
#include <string_view>

#include "io/importers/kineto/block.h"

namespace gpuprof::inline importers::kineto {

// Completes the collectives of `rows`; `groups` are those of the header. Afterwards every text in `ranks` is compact
// (core/base/text/rank_list.h). Lists that cannot be completed are a loss with the first group's name.
void complete_groups(Batch& rows, std::span<const GroupEntry> groups, std::string_view file);

}  // namespace gpuprof::importers::kineto
