// What LD_PRELOAD can name. It holds several paths, between colons or spaces, and $ORIGIN and the like are replaced in them: a library
// under a path with one of these is not found, and the dynamic linker says so on the standard error of each program. Such a library gets
// another name without them, a symbolic link in a folder of its own. The linker knows a file by its inode, so that the
// link and the file, which CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH name as it is, are one library in a process.
// In programs that run with another user's rights (AT_SECURE) the linker looks at neither.
#pragma once

#include <string>

#include "core/base/result.h"

namespace gpuprof {

class PreloadPath {
public:
    // An error: no folder for a link could be made. The library must not be preloaded then.
    static Result<PreloadPath> of(const std::string& library);
    PreloadPath(PreloadPath&& other) noexcept;
    PreloadPath& operator=(PreloadPath&&) = delete;
    // Removes the link.
    ~PreloadPath();

    const std::string& path() const { return path_; }
    // Whether LD_PRELOAD can hold it as it is.
    static bool holds(const std::string& path);

private:
    PreloadPath(std::string path, std::string folder) : path_(std::move(path)), folder_(std::move(folder)) {}
    std::string path_, folder_;  // folder "": the library needs no link
};

}  // namespace gpuprof
