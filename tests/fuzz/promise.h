// A broken promise ends the target, and says which it was.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace gpuprof::fuzz {

inline void promise(bool kept, const char* what) {
    if (kept) return;
    std::fprintf(stderr, "broken promise: %s\n", what);
    std::abort();
}

}  // namespace gpuprof::fuzz
