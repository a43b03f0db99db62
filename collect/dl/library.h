// A shared library that may not be there, found at run time: a list of names is tried in order, and functions are looked
// up by name into plain pointers, so that nothing links against a driver. A library of stubs (a path with /stubs/ in it,
// as CUDA toolkits carry them for linking) is refused: its functions answer nothing.
// A library stays loaded until the process ends: drivers start threads and leave handlers behind.
#pragma once

#include <span>
#include <string>

#include "core/base/result.h"

namespace gpuprof {

class Library {
public:
    // The first of `names` that loads; an absolute path or a name the loader searches for. The error lists why each failed.
    static Result<Library> open(std::span<const std::string> names);
    // Null when the library lacks it.
    void* symbol(const char* name) const;
    // The file behind it, links resolved.
    const std::string& path() const { return path_; }

private:
    void* handle_ = nullptr;
    std::string path_;
};

// One function pointer to be filled. `names` are names of one function, newest first; `resolved` says which one was found.
struct SymbolSlot {
    std::span<const char* const> names;
    bool required;
    void** function;
    const char** resolved;
};

// Fills all slots; those of what is missing get null. An error when a required one is missing.
Status resolve(const Library& library, std::span<const SymbolSlot> slots);

}  // namespace gpuprof
