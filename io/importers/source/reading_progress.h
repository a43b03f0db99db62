// How much of its files this process has read, for a progress line. Process-wide counters: readers of several files run
// concurrently.
#pragma once

#include <atomic>
#include <cstdint>

namespace gpuprof::inline importers {

struct ReadingProgress {
    std::atomic<std::uint64_t> size{0};  // of the files opened so far, in bytes; streams count 0
    std::atomic<std::uint64_t> read{0};  // of these files
    std::atomic<int> open{0};            // files being read now
};

inline ReadingProgress& reading() {
    static ReadingProgress all;
    return all;
}

}  // namespace gpuprof::importers
