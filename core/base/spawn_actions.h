// How another program is started: its descriptors, signals and session. Adding an action needs memory; a process that lacks one would
// write to the wrong file. So the first failure is kept, and spawn() returns it instead of starting the process. Not for children that
// stay in this program (fork), nor for a program that this process becomes (exec).
#pragma once

#include <signal.h>
#include <spawn.h>
#include <string>
#include <vector>

#include "core/base/program_environment.h"

namespace gpuprof::inline base {

class SpawnActions {
public:
    SpawnActions() : failed_(posix_spawn_file_actions_init(&actions_)), made_(failed_ == 0) {
        posix_spawnattr_init(&attributes_);
    }
    ~SpawnActions() {
        posix_spawnattr_destroy(&attributes_);
        if (made_) posix_spawn_file_actions_destroy(&actions_);
    }
    SpawnActions(const SpawnActions&) = delete;
    SpawnActions& operator=(const SpawnActions&) = delete;

    void open(int descriptor, const char* path, int flags) {
        if (failed_ == 0) failed_ = posix_spawn_file_actions_addopen(&actions_, descriptor, path, flags, 0);
    }
    void duplicate(int descriptor, int as) {
        if (failed_ == 0) failed_ = posix_spawn_file_actions_adddup2(&actions_, descriptor, as);
    }
    // Closes every descriptor from `first` on in the child, on every glibc. The caller's own table is unchanged.
    void close_from(int first);
    // The same for glibc before 2.34: closes what is open now. A descriptor that another thread opens before the process starts is
    // inherited, unless it has FD_CLOEXEC.
    void close_listed_from(int first);

    // Signals that begin with their default action, and those that are blocked. Without this, both are inherited.
    void set_signals(const sigset_t& defaulted, const sigset_t& blocked);
    // No signal is ignored or blocked, whatever the host of our library does with its own.
    void reset_signals();
    void lead_session() { flags_ |= POSIX_SPAWN_SETSID; }
    void lead_group() { flags_ |= POSIX_SPAWN_SETPGROUP; }

    // 0, or the error. `words` begin with the program's own name; `found`: program is looked up in PATH.
    int spawn(pid_t& child, const std::string& program, const std::vector<std::string>& words,
              const ProgramEnvironment& environment = {}, bool found = false);

private:
    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
    int failed_, flags_ = 0;
    bool made_;
};

}  // namespace gpuprof::base
