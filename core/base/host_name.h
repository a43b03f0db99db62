// The name of this machine, as keys of processes have it.
#pragma once

#include <unistd.h>

#include <array>
#include <string>

namespace gpuprof {

// "" when the system does not tell.
inline std::string host_name() {
    std::array<char, 4096> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace gpuprof
