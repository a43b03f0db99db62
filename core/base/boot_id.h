// The id of this boot of the machine: random, new at each boot, the same in all of its containers (random(4)).
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>

namespace gpuprof::inline base {

inline constexpr std::size_t kBootIdSize = 36;

// Writes it to `text` and returns its size; 0 if the system does not report it.
inline std::size_t read_boot_id(char (&text)[kBootIdSize]) noexcept {
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t size = read(file, text, sizeof text);
    close(file);
    return size == static_cast<ssize_t>(sizeof text) ? sizeof text : 0;
}

}  // namespace gpuprof::base
