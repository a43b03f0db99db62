#include "collect/device/close_inherited.h"

#include <dirent.h>
#include <dlfcn.h>

#include <cstdlib>

namespace gpuprof::inline device {

void close_from(posix_spawn_file_actions_t& actions, int first) {
    // Looked up at run time, because a program linked to it would not start with an older glibc.
    using Function = int (*)(posix_spawn_file_actions_t*, int);
    static const auto function =
        reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addclosefrom_np"));
    if (function == nullptr || function(&actions, first) != 0) close_listed_from(actions, first);
}

void close_listed_from(posix_spawn_file_actions_t& actions, int first) {
    DIR* open_now = opendir("/proc/self/fd");
    if (open_now == nullptr) return;
    while (const dirent* entry = readdir(open_now)) {
        int fd = std::atoi(entry->d_name);  // 0 for "." and ".."
        if (fd >= first && fd != dirfd(open_now)) posix_spawn_file_actions_addclose(&actions, fd);
    }
    closedir(open_now);
}

}  // namespace gpuprof::device
