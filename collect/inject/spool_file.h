// The file one process leaves: chunks appended with one write each, so that a process killed at any moment leaves whole
// chunks. Used by one thread. A chunk that could not be written whole is taken back and counted, and the next one is tried:
// a disk may have room again, and the last chunks, which say what is missing, are small.
//
// The descriptor lives in the program's table, and programs close descriptors that they did not open (closefrom, daemons) and
// then open their own under the same numbers. So it has a high number that nobody is given by chance, and before each write it
// is compared with the file's device and inode. When it is no longer ours the file is opened again by its path; when that fails
// too, nothing more is written. A number that is not ours is never written to and never closed.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/format/chunk.h"

namespace gpuprof::inject {

class SpoolFile {
public:
    // Creates FOLDER/PID-TIME.gpuprof for this process, readable by its user only; whether that worked.
    bool open(const char* folder) noexcept;
    // Goes on in a new file, and removes the one before the last; whether the new one could be made.
    bool next(const char* folder) noexcept;
    // Removes the file if nothing could be written to it.
    void remove_if_empty() noexcept;
    bool empty() const noexcept { return written_bytes_ == 0; }
    bool is_open() const noexcept { return fd_ >= 0; }
    // A chunk whose payload is `head` followed by `body`; whether it was written.
    bool write(ChunkKind kind, std::string_view head, std::string_view body = {}) noexcept;
    std::uint64_t unwritten() const noexcept { return unwritten_; }
    // Lets go of the file without a word in it: in a child of fork() it is the parent's.
    void forget() noexcept;

private:
    bool adopt(int fd) noexcept;
    bool is_ours(int fd) const noexcept;
    bool holds() noexcept;
    bool worth_trying(ChunkKind kind) const noexcept;
    bool put_all(const iovec* parts, int count, std::size_t whole) noexcept;
    bool put(const char* bytes, std::size_t size) noexcept;

    int fd_ = -1;
    dev_t device_ = 0;  // of the file, with inode_
    ino_t inode_ = 0;
    char path_[4096] = {}, before_[4096] = {};
    std::uint32_t sequence_ = 0;
    std::uint64_t unwritten_ = 0;
    std::uint64_t written_bytes_ = 0;  // of whole chunks
    int failures_ = 0;                 // since the last chunk that was written
    std::int64_t failed_at_ = 0;
};

}  // namespace gpuprof::inject
