#include "core/base/own_program.h"

#include <limits.h>
#include <unistd.h>

#include <array>

namespace gpuprof {

std::string own_program() {
    std::array<char, PATH_MAX> path{};
    ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

}  // namespace gpuprof
