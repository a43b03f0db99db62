// The file of a history as bytes: read whole under a lock, replaced whole. SQLite sees memory alone, never a path, because next to a path it
// looks for a journal, and a journal names files that SQLite then removes.
//
// Locks are those of SQLite on its own bytes of the file, so `sqlite3` may be used on a history at the same time.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace gpuprof::compare {

class HistoryFile {
public:
    enum class Access { read, replace };

    // Waits for others who write, or read and write if it is to be replaced, then reads the file. nullopt: there is no such file. Refuses a
    // file that is too large or no file, one of another user in a folder that others can write to, and one with a journal next to it.
    static Result<std::optional<HistoryFile>> open(const std::string& path, Access access);
    // Makes a private file of these bytes, unless there is one. `announce` as in OutputOptions.
    static Status make(const std::string& path, const std::string& bytes,
                       const std::function<void(const std::string&)>& announce);

    HistoryFile(HistoryFile&& other) noexcept;
    HistoryFile& operator=(HistoryFile&& other) noexcept;
    ~HistoryFile();  // gives up the lock

    const std::string& bytes() const { return bytes_; }
    Status replace(const std::string& bytes, const std::function<void(const std::string&)>& announce);

private:
    HistoryFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
    Status lock(Access access, std::chrono::steady_clock::time_point deadline) const;
    bool has_its_name() const;
    Status check_owner(const struct stat& file) const;
    Status check_journals() const;
    Status read(std::size_t size);

    std::string path_, bytes_;
    int fd_;
};

}  // namespace gpuprof::compare
