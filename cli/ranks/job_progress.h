// How far the files of a job are read, as a line: "312 of 1,024 files, 31.2 of 102 GB, 1.21 GB/s, 3 ranks lost, 58 s left".
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "core/base/ids.h"

namespace gpuprof::inline cli {

// Counted by several threads.
struct JobProgress {
    std::atomic<std::uint64_t> files{0}, bytes{0};            // of the job
    std::atomic<std::uint64_t> files_done{0}, bytes_done{0};  // of these
    std::atomic<std::uint64_t> bytes_kept{0};                 // of these: no need to read them again
    std::atomic<std::uint64_t> lost{0};                       // files that could not be read

    void count(std::uint64_t file_bytes, bool kept, bool is_lost);
    std::string line(DurNs elapsed) const;
};

}  // namespace gpuprof::cli
