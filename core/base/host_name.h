// The name of this machine, as used in the keys of processes.
#pragma once

#include <unistd.h>

#include <array>
#include <string>

namespace gpuprof::inline base {

// "" if the system does not report one.
inline std::string host_name() {
    std::array<char, 4096> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace gpuprof::base
