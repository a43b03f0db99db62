// A C string in an array: cut to what fits, always ended, the rest zero. For records of a fixed size, also where nothing may allocate.
#pragma once

#include <cstddef>
#include <cstring>

namespace gpuprof::inline base {

template <std::size_t Size>
void copy_cut(char (&to)[Size], const char* text) noexcept {
    std::size_t length = strnlen(text, Size - 1);
    std::memcpy(to, text, length);
    std::memset(to + length, 0, Size - length);
}

}  // namespace gpuprof::base
