#include "core/base/pod_vector.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace gpuprof {

// Whole pages around the range: were the first one left out, the mapping would fall into two areas of different advice,
// which mremap refuses to move together, and realloc would copy instead.
void advise_huge_pages(void* begin, std::size_t bytes) {
    static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    std::uintptr_t first = reinterpret_cast<std::uintptr_t>(begin) / page * page;
    std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(begin) + bytes + page - 1) / page * page;
    (void)madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

}  // namespace gpuprof
