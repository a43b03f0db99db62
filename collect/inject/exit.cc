// Intercepts exits that skip the handlers of exit(): _exit and _Exit, which forked workers (multiprocessing) and
// servers use. This library is preloaded, so calls through dynamic symbols arrive here. The recording ends as at
// exit(), within two seconds, and then the process. Both functions may be called in a signal handler, where this code
// is safe, and in a child of vfork(), which shares its parent's memory and where it does nothing. A raw system call is
// not intercepted.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/inject/collector.h"

namespace gpuprof::inject {
namespace {

using Exit = void (*)(int);

// The next functions of these names: a sanitizer's runtime or another preloaded library may intercept the exit too.
// They are looked up in advance, because the lookup takes the dynamic linker's lock, which may be held for ever in a
// forked child.
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
