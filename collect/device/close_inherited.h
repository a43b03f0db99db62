// Closes descriptors that a started process must not inherit, on every glibc: posix_spawn_file_actions_addclosefrom_np
// exists since 2.34, and portable builds run on 2.28.
#pragma once

#include <spawn.h>

namespace gpuprof::inline device {

// Adds actions that close every descriptor from `first` on in the child. The caller's own table is unchanged.
void close_from(posix_spawn_file_actions_t& actions, int first);

// The same for older versions of glibc: closes what is open now. A descriptor that another thread opens before the
// process starts is inherited, unless it has FD_CLOEXEC.
void close_listed_from(posix_spawn_file_actions_t& actions, int first);

}  // namespace gpuprof::device
