// The data of records of overhead, which the client frees (cupti_activity.h of CUPTI 12.4 and later: "Client is responsible
// for freeing this memory using the free function when done"). With GPUPROF_FAKE_OVERHEAD_DATA set each such record has
// some, and what was not freed is said when the process ends. A block is so large that malloc maps it, and free unmaps it.
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "tests/fakes/cupti/delivery.h"

namespace {

constexpr std::size_t kBytes = std::size_t{33} << 20;  // glibc maps what is larger than 32 MiB
constexpr std::size_t kPage = 4096, kOffset = 48, kRecordBytes = 56;

std::mutex lock;
std::vector<void*>& blocks() {
    static auto& made = *new std::vector<void*>;
    return made;
}

__attribute__((destructor)) void tell() {
    std::size_t kept = 0;
    for (void* block : blocks()) {
        unsigned char resident = 0;
        auto page = reinterpret_cast<std::uintptr_t>(block) / kPage * kPage;
        kept += mincore(reinterpret_cast<void*>(page), kPage, &resident) == 0;
    }
    if (!blocks().empty())
        std::fprintf(stderr, "fake libcupti: %zu of %zu data of overhead were not freed\n", kept, blocks().size());
}

}  // namespace

namespace fake_cupti {

void add_overhead_data(unsigned char* record, std::size_t bytes) {
    static const bool wanted = std::getenv("GPUPROF_FAKE_OVERHEAD_DATA") != nullptr;
    if (!wanted || bytes < kRecordBytes) return;
    void* data = std::malloc(kBytes);
    std::memcpy(record + kOffset, &data, sizeof data);
    std::lock_guard<std::mutex> held(lock);
    blocks().push_back(data);
}

}  // namespace fake_cupti
