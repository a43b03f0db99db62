// An optional shared library, found at run time: tries a list of names in order, and looks up functions by name as
// plain pointers, so that nothing links against a driver. A stub library (a path containing /stubs/, which CUDA
// toolkits provide for linking) is refused, because its functions do nothing. A library stays loaded until the process
// ends: drivers start threads and leave handlers behind.
#pragma once

#include <span>
#include <string>

#include "core/base/result.h"

namespace gpuprof::inline dl {

class Library {
public:
    // Loads the first of `names` that works: an absolute path, or a name that the loader searches for. The error says
    // why each one failed.
    static Result<Library> open(std::span<const std::string> names);
    // Null if the library lacks it.
    void* symbol(const char* name) const;
    // Path of its file, with links resolved.
    const std::string& path() const { return path_; }

private:
    void* handle_ = nullptr;
    std::string path_;
};

// A function pointer to fill. `names` are alternative names of the function, newest first; `resolved` is the one that
// was found.
struct SymbolSlot {
    std::span<const char* const> names;
    bool required;
    void** function;
    const char** resolved;
};

// Fills all slots; missing functions become null. Fails if a required one is missing.
Status resolve(const Library& library, std::span<const SymbolSlot> slots);

}  // namespace gpuprof::dl
