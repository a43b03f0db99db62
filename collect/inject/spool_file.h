// The file one process leaves: chunks appended with one write each, so that a process killed at any moment leaves whole
// chunks. Used by one thread. After a failure to write nothing more is tried, and what could not be written is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/format/chunk.h"

namespace gpuprof::inject {

class SpoolFile {
public:
    // Creates FOLDER/PID-TIME.gpuprof for this process, readable by its user only; whether that worked.
    bool open(const char* folder) noexcept;
    bool is_open() const noexcept { return fd_ >= 0; }
    // A chunk whose payload is `head` followed by `body`.
    void write(ChunkKind kind, std::string_view head, std::string_view body = {}) noexcept;
    std::uint64_t unwritten() const noexcept { return unwritten_; }
    // In a child of fork(): the file is the parent's.
    void forget() noexcept { fd_ = -1; }

private:
    bool put(const char* bytes, std::size_t size) noexcept;

    int fd_ = -1;
    bool failed_ = false;
    std::uint32_t sequence_ = 0;
    std::uint64_t unwritten_ = 0;
};

}  // namespace gpuprof::inject
