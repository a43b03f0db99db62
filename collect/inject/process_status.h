// What /proc/self/status says about this process. Programs may run under a seccomp filter that ends them for a call that it does not
// list, getpid included. It lets through what the dynamic linker has just done to load this library: openat, read and close.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace gpuprof::inject {

struct ProcessStatus {
    long process = 0, parent = 0;  // 0: unknown
    bool filtered = true;          // under seccomp, or unknown
};

inline ProcessStatus read_process_status() noexcept {
    ProcessStatus status;
    int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (file < 0) return status;
    char text[4096];
    ssize_t size = ::read(file, text, sizeof text - 1);
    ::close(file);
    if (size <= 0) return status;
    text[size] = '\0';
    auto number = [&](const char* name) {
        const char* line = std::strstr(text, name);
        return line == nullptr ? 0 : std::atol(line + std::strlen(name));
    };
    status.process = number("\nTgid:");
    status.parent = number("\nPPid:");
    status.filtered = number("\nSeccomp:") != 0;  // no such line: a kernel without it
    return status;
}

}  // namespace gpuprof::inject
