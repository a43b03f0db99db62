// A temporary file or folder in TMPDIR (default /tmp), removed with its object. A file never has a name, so it also
// disappears with the process, however the process ends.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.h"

namespace gpuprof::inline base {

// A descriptor of a new file in `folder` without a name, for reading and writing; -1 with errno.
int open_nameless_file(const std::string& folder);

class TemporaryFile {
public:
    static Result<TemporaryFile> make();
    TemporaryFile(TemporaryFile&& other) noexcept;
    TemporaryFile& operator=(TemporaryFile&&) = delete;
    ~TemporaryFile();

    // The path by which this process can open it: /proc/self/fd/N.
    const std::string& path() const { return path_; }
    int fd() const { return fd_; }
    Status write(std::string_view bytes);

private:
    TemporaryFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
    std::string path_;
    int fd_;
};

// Removed with everything in it.
class TemporaryFolder {
public:
    static Result<TemporaryFolder> make();
    TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    ~TemporaryFolder();

    const std::string& path() const { return path_; }

private:
    explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
    std::string path_;  // "" once ownership has moved
};

}  // namespace gpuprof::base
