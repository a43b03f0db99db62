// What the client frees: the data of records of overhead (cupti_activity.h of CUPTI 12.4 and later: "Client is responsible for freeing
// this memory using the free function when done"), and the names of functions in samples (cupti_pcsampling.h: a string "might be shared
// across all the records including records from activity APIs", so it is freed once, "after post processing of all the records").
//
// With GPUPROF_FAKE_CLIENT_MEMORY set each record of overhead has data, blocks are so large that malloc maps them and free unmaps them,
// and what was not freed is said when the process ends. Freeing a string twice ends the process in any case.
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/fakes/cupti/delivery.h"

namespace {

constexpr std::size_t kBytes = std::size_t{33} << 20;  // glibc maps what is larger than 32 MiB
constexpr std::size_t kPage = 4096, kOffset = 48, kRecordBytes = 56;

bool watched() {
    static const bool is = std::getenv("GPUPROF_FAKE_CLIENT_MEMORY") != nullptr;
    return is;
}

enum What { kOverheadData, kNames, kWhats };
constexpr const char* kTexts[kWhats] = {"data of overhead", "names of functions"};

std::mutex lock;
std::array<std::vector<void*>, kWhats>& blocks() {
    static auto& made = *new std::array<std::vector<void*>, kWhats>;
    return made;
}

bool is_there(void* block) {
    unsigned char resident = 0;
    return mincore(reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(block) / kPage * kPage), kPage,
                   &resident) == 0;
}

void* make(What what, std::size_t bytes) {
    void* made = std::malloc(watched() ? kBytes : bytes);
    blocks()[what].push_back(made);
    return made;
}

__attribute__((destructor)) void tell() {
    for (int what = 0; watched() && what < kWhats; ++what) {
        std::size_t kept = 0;
        for (void* block : blocks()[static_cast<std::size_t>(what)]) kept += is_there(block);
        if (std::size_t all = blocks()[static_cast<std::size_t>(what)].size(); all > 0)
            std::fprintf(stderr, "fake libcupti: %zu of %zu %s were not freed\n", kept, all, kTexts[what]);
    }
}

}  // namespace

namespace fake_cupti {

void add_overhead_data(unsigned char* record, std::size_t bytes) {
    if (!watched() || bytes < kRecordBytes) return;
    std::lock_guard<std::mutex> held(lock);
    void* data = make(kOverheadData, kBytes);
    std::memcpy(record + kOffset, &data, sizeof data);
}

char* sampled_name(const std::string& function) {
    static auto& known = *new std::map<std::string, char*>;
    std::lock_guard<std::mutex> held(lock);
    auto [at, added] = known.try_emplace(function, nullptr);
    if (added) {
        at->second = static_cast<char*>(make(kNames, function.size() + 1));
        std::memcpy(at->second, function.c_str(), function.size() + 1);
    } else if (watched() && !is_there(at->second)) {
        count_breach("a function's name was freed before all records were read");
    }
    return at->second;
}

}  // namespace fake_cupti
