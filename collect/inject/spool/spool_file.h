// The file of one process: chunks appended with one write each, so that a process killed at any moment leaves complete
// chunks. Used by one thread. A chunk that could not be written completely is removed and counted, and the next one is
// tried: space may have been freed, and the last chunks, which report what is missing, are small.
//
// The descriptor lives in the program's table, and programs close descriptors that they did not open (closefrom,
// daemons) and then open their own under the same numbers. The descriptor therefore has a high number that is not
// assigned by chance, and its device and inode are checked before each write. If it is no longer ours, the file is
// reopened by its path; if that fails too, nothing more is written. A foreign descriptor is never written to and never
// closed.
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
    static constexpr std::size_t kPathBytes = 4096;

    // Creates FOLDER/PID-TIME.gpuprof for this process, readable only by its user; returns whether that worked.
    bool open(const char* folder) noexcept;
    // Continues in a new file; returns whether it could be created. Unless `keep` is set, the file before the last one is
    // removed.
    bool next(const char* folder, bool keep = false) noexcept;
    // The file of this process that was created at `time`; whether the path fits.
    static bool path_of(char (&path)[kPathBytes], const char* folder, std::int64_t time) noexcept;
    // The time in the file's name. Later files of a process have later ones.
    std::int64_t created_at() const noexcept { return created_at_; }
    std::uint64_t bytes() const noexcept { return written_bytes_; }
    // Removes the file if nothing was written to it.
    void remove_if_empty() noexcept;
    bool empty() const noexcept { return written_bytes_ == 0; }
    bool is_open() const noexcept { return fd_ >= 0; }
    // Writes a chunk whose payload is `head` followed by `body`; returns whether that worked. A spool_lost chunk must
    // state unwritten(). `end` is refused while the file does not: without it, readers say that something is missing.
    bool write(ChunkKind kind, std::string_view head, std::string_view body = {}) noexcept;
    std::uint64_t unwritten() const noexcept { return unwritten_; }
    // Closes the file without writing: in a forked child it belongs to the parent.
    void forget() noexcept;

private:
    bool adopt(int fd) noexcept;
    bool is_ours(int fd) const noexcept;
    bool holds() noexcept;
    bool should_retry(ChunkKind kind) const noexcept;
    bool put_all(const iovec* parts, int count, std::size_t whole) noexcept;
    bool put(const char* bytes, std::size_t size) noexcept;

    int fd_ = -1;
    dev_t device_ = 0;  // of the file, with inode_
    ino_t inode_ = 0;
    std::int64_t created_at_ = 0;
    char path_[kPathBytes] = {}, before_[kPathBytes] = {};
    std::uint32_t sequence_ = 0;
    std::uint64_t unwritten_ = 0, reported_ = 0;  // reported: what the last spool_lost chunk stated
    std::uint64_t written_bytes_ = 0;             // of complete chunks
    int failures_ = 0;                            // since the last chunk that was written
    std::int64_t failed_at_ = 0;
};

}  // namespace gpuprof::inject
