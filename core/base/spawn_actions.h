// What becomes of the descriptors of a process that is started. Adding an action needs memory; a process that lacks one would write to
// the wrong file. So the first failure is kept, and spawn() returns it instead of starting the process.
#pragma once

#include <spawn.h>

namespace gpuprof::inline base {

class SpawnActions {
public:
    SpawnActions() : failed_(posix_spawn_file_actions_init(&actions_)), made_(failed_ == 0) {}
    ~SpawnActions() {
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
    posix_spawn_file_actions_t& actions() { return actions_; }

    // 0, or the error. `words` end with a null pointer; `found`: program is looked up in PATH.
    int spawn(pid_t& child, const char* program, const posix_spawnattr_t* attributes, char* const* words,
              char* const* environment, bool found = false) const {
        if (failed_ != 0) return failed_;
        auto* start = found ? posix_spawnp : posix_spawn;
        return start(&child, program, &actions_, attributes, words, environment);
    }

private:
    posix_spawn_file_actions_t actions_;
    int failed_;
    bool made_;
};

}  // namespace gpuprof::base
