#include "core/base/spawn_actions.h"

#include <dirent.h>
#include <dlfcn.h>

#include <cstdlib>

namespace gpuprof::inline base {

void SpawnActions::close_from(int first) {
    // Looked up at run time, because a program linked to it would not start with a glibc older than 2.34; portable builds run on 2.28.
    using Function = int (*)(posix_spawn_file_actions_t*, int);
    static const auto function =
        reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addclosefrom_np"));
    if (failed_ == 0 && (function == nullptr || function(&actions_, first) != 0)) close_listed_from(first);
}

void SpawnActions::close_listed_from(int first) {
    DIR* open_now = opendir("/proc/self/fd");
    if (open_now == nullptr) return;
    while (const dirent* entry = readdir(open_now)) {
        int fd = std::atoi(entry->d_name);  // 0 for "." and ".."
        if (fd >= first && fd != dirfd(open_now) && failed_ == 0)
            failed_ = posix_spawn_file_actions_addclose(&actions_, fd);
    }
    closedir(open_now);
}

void SpawnActions::set_signals(const sigset_t& defaulted, const sigset_t& blocked) {
    posix_spawnattr_setsigdefault(&attributes_, &defaulted);
    posix_spawnattr_setsigmask(&attributes_, &blocked);
    flags_ |= POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
}

void SpawnActions::reset_signals() {
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    set_signals(all, none);
}

int SpawnActions::spawn(pid_t& child, const std::string& program, const std::vector<std::string>& words,
                        const ProgramEnvironment& environment, bool found) {
    if (failed_ != 0) return failed_;
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    posix_spawnattr_setflags(&attributes_, static_cast<short>(flags_));
    auto* start = found ? posix_spawnp : posix_spawn;
    return start(&child, program.c_str(), &actions_, &attributes_, argv.data(), environment.pointers().data());
}

}  // namespace gpuprof::base
