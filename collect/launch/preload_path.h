// A path for LD_PRELOAD. The variable holds several paths, separated by colons or spaces, and expands $ORIGIN and
// similar in them. A library whose path contains such characters is not found, and the dynamic linker complains on the
// standard error of each program. Such a library gets a symbolic link in a separate folder. The linker identifies a
// file by its inode, so the link and the file itself, which CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH name, are
// one library in a process. In programs that run with another user's rights (AT_SECURE) the linker ignores the
// variable.
#pragma once

#include <string>

#include "core/base/result.h"

namespace gpuprof::inline launch {

class PreloadPath {
public:
    // Fails if no folder accepts a link. The library must not be preloaded then.
    static Result<PreloadPath> of(const std::string& library);
    PreloadPath(PreloadPath&& other) noexcept;
    PreloadPath& operator=(PreloadPath&&) = delete;
    // Removes the link.
    ~PreloadPath();

    const std::string& path() const { return path_; }
    // Whether LD_PRELOAD supports the path unchanged.
    static bool holds(const std::string& path);

private:
    PreloadPath(std::string path, std::string folder) : path_(std::move(path)), folder_(std::move(folder)) {}
    std::string path_, folder_;  // folder "": no link needed
};

}  // namespace gpuprof::launch
