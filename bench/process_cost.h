// What this process has cost so far.
#pragma once

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <limits>
#include <string>

namespace gpuprof {

// A line of /proc/self/status, e.g. VmRSS, in bytes; NaN if it is absent.
inline double status_bytes(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(name + ":")) return std::strtod(line.c_str() + name.size() + 1, nullptr) * 1024;
    return std::numeric_limits<double>::quiet_NaN();
}

// Of all threads.
inline double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace gpuprof
