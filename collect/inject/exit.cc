// Ends that skip the handlers of exit(): _exit and _Exit, by which forked workers (multiprocessing) and servers leave. This library
// is preloaded, so calls through dynamic symbols arrive here: the recording is ended as at exit(), within the same two seconds
// at most, then the process. Both functions may be called in a signal handler and in a child of vfork(), whose memory is its
// parent's: what is done here is safe in the one, and nothing is done in the other. A raw system call is not seen.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/inject/collector.h"

namespace gpuprof::inject {
namespace {

using Exit = void (*)(int);

// The next functions of these names: a sanitizer's runtime or another preloaded library may want to know of the end too. Found before
// they are needed, because looking them up takes the dynamic linker's lock, which a child of fork() may find taken for ever.
Exit next_exit = nullptr, next_c_exit = nullptr;
[[gnu::constructor]] void find_next() {
    next_exit = reinterpret_cast<Exit>(dlsym(RTLD_NEXT, "_exit"));
    next_c_exit = reinterpret_cast<Exit>(dlsym(RTLD_NEXT, "_Exit"));
}

[[noreturn]] void leave(Exit next, int status) noexcept {
    end_collector();
    if (next != nullptr) next(status);
    for (;;) syscall(SYS_exit_group, status);
}

}  // namespace
}  // namespace gpuprof::inject

extern "C" __attribute__((visibility("default"), noreturn)) void _exit(int status) {
    gpuprof::inject::leave(gpuprof::inject::next_exit, status);
}
extern "C" __attribute__((visibility("default"), noreturn)) void _Exit(int status) {
    gpuprof::inject::leave(gpuprof::inject::next_c_exit, status);
}
