// FNV-1a of 64 bits: not secure, and the same on every platform and in every version, so that hashes may be stored.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuprof::inline base {

inline constexpr std::uint64_t kFnvBasis = 14695981039346656037u;

// `hash`: of the bytes before, to hash them in parts.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = kFnvBasis) noexcept {
    for (char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211u;
    return hash;
}

}  // namespace gpuprof::base
