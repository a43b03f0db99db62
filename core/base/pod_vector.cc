#include "core/base/pod_vector.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace gpuprof::inline base {

// Whole pages around the range. Without the first one, the mapping would split into two areas with different advice;
// mremap refuses to move them together, and realloc would copy instead.
void advise_huge_pages(void* begin, std::size_t bytes) {
    static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    std::uintptr_t first = reinterpret_cast<std::uintptr_t>(begin) / page * page;
    std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(begin) + bytes + page - 1) / page * page;
    (void)madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

}  // namespace gpuprof::base
