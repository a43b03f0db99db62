// A library for LD_PRELOAD that makes one disk call of a program fail, or kills the program there: what it writes must be whole or
// absent whatever happens. Only calls on files below one folder count, of whatever code makes them; what the C library
// does within itself (stdio) is not seen.
//
//   GPUPROF_DISKFAULT_IN=FOLDER        absolute, without links
//   GPUPROF_DISKFAULT="N WHAT"         the Nth call, from 1
//   GPUPROF_DISKFAULT_CALLS=FILE       a line with the name of each call, in order
//
//   calls   create (open that may create), write (pwrite too), sync (fsync, fdatasync), close (of what was written), rename, link,
//           truncate, chmod, unlink
//   WHAT    ENOSPC, EIO, EDQUOT: fails so; short: writes half; kill: SIGKILL before the call; after: SIGKILL behind it
//
// A call that fails with an error does nothing, but close, which closes all the same.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <initializer_list>

namespace {

enum Fault { kNone, kShort, kKill, kKillAfter, kError };
struct Plan {
    long number = 0;
    Fault fault = kNone;
    int error = 0;
    char folder[PATH_MAX] = "";
    int calls = -1;
} plan;
std::atomic<long> count{0};

template <class Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
#define NEXT(name) static auto* real = next<decltype(&name)>(#name)
#define EXPORT extern "C" __attribute__((visibility("default")))

__attribute__((constructor)) void read_plan() {
    const char* folder = getenv("GPUPROF_DISKFAULT_IN");
    if (folder == nullptr) return;
    snprintf(plan.folder, sizeof plan.folder, "%s/", folder);
    if (const char* file = getenv("GPUPROF_DISKFAULT_CALLS"))
        plan.calls = next<decltype(&open)>("open")(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const char* text = getenv("GPUPROF_DISKFAULT");
    char what[16] = "";
    if (text == nullptr) return;
    struct {
        const char* name;
        Fault fault;
        int error;
    } const known[] = {{"ENOSPC", kError, ENOSPC}, {"EIO", kError, EIO}, {"EDQUOT", kError, EDQUOT},
                       {"short", kShort, 0},       {"kill", kKill, 0},   {"after", kKillAfter, 0}};
    if (sscanf(text, "%ld %15s", &plan.number, what) == 2)
        for (const auto& each : known)
            if (strcmp(what, each.name) == 0) plan.fault = each.fault, plan.error = each.error;
    if (plan.fault == kNone) {
        fprintf(stderr, "diskfault: '%s' is not understood\n", text);
        abort();
    }
}

bool below(const char* path) {
    if (plan.folder[0] == '\0' || path == nullptr) return false;
    char full[2 * PATH_MAX], folder[PATH_MAX];
    if (path[0] != '/' && getcwd(folder, sizeof folder) != nullptr) {
        snprintf(full, sizeof full, "%s/%s", folder, path);
        path = full;
    }
    return strncmp(path, plan.folder, strlen(plan.folder)) == 0;
}

bool below(int file) {
    if (plan.folder[0] == '\0') return false;
    int before = errno;
    char link[64], path[PATH_MAX] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    bool known = readlink(link, path, sizeof path - 1) > 0;
    errno = before;
    return known && below(path);
}

bool written(int file) {
    int flags = fcntl(file, F_GETFL);
    struct stat about {};
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(file, &about) == 0 && S_ISREG(about.st_mode);
}

void die() {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

// What is to happen to this call.
Fault judge(const char* name, bool ours) {
    if (!ours) return kNone;
    int before = errno;
    long number = count.fetch_add(1) + 1;
    if (plan.calls >= 0) {
        char line[32];
        int length = snprintf(line, sizeof line, "%s\n", name);
        NEXT(write);
        if (real(plan.calls, line, static_cast<size_t>(length)) < 0) abort();
    }
    errno = before;
    if (number != plan.number) return kNone;
    if (plan.fault == kKill) die();
    if (plan.fault == kError) errno = plan.error;
    return plan.fault;
}

template <class Call>
auto played(const char* name, bool ours, Call call) -> decltype(call()) {
    Fault fault = judge(name, ours);
    if (fault == kError) return -1;
    auto result = call();
    if (fault == kKillAfter) die();
    return result;
}

}  // namespace

#define OPEN(name)                                                                                               \
    EXPORT int name(const char* path, int flags, ...) {                                                          \
        NEXT(name);                                                                                              \
        va_list more;                                                                                            \
        va_start(more, flags);                                                                                   \
        int mode = va_arg(more, int); /* garbage when it was not given, which the real one ignores */            \
        va_end(more);                                                                                            \
        return played("create", (flags & O_CREAT) != 0 && below(path), [&] { return real(path, flags, mode); }); \
    }
OPEN(open)
OPEN(open64)

EXPORT ssize_t write(int file, const void* bytes, size_t size) {
    NEXT(write);
    Fault fault = judge("write", below(file));
    if (fault == kError) return -1;
    ssize_t done = real(file, bytes, fault == kShort || fault == kKillAfter ? (size + 1) / 2 : size);
    if (fault == kKillAfter) die();  // in the middle of it
    return done;
}
#define PWRITE(name)                                                                      \
    EXPORT ssize_t name(int file, const void* bytes, size_t size, off_t at) {             \
        NEXT(name);                                                                       \
        return played("write", below(file), [&] { return real(file, bytes, size, at); }); \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

EXPORT int fsync(int file) {
    NEXT(fsync);
    return played("sync", below(file), [&] { return real(file); });
}
EXPORT int fdatasync(int file) {
    NEXT(fdatasync);
    return played("sync", below(file), [&] { return real(file); });
}
EXPORT int close(int file) {
    NEXT(close);
    Fault fault = judge("close", below(file) && written(file));
    int error = errno, done = real(file);
    if (fault == kKillAfter) die();
    if (fault == kError) errno = error;
    return fault == kError ? -1 : done;
}
#define RENAME(called, name, parameters, ...)                                \
    EXPORT int name parameters {                                             \
        NEXT(name);                                                          \
        return played(called, below(to), [&] { return real(__VA_ARGS__); }); \
    }
RENAME("rename", rename, (const char* from, const char* to), from, to)
RENAME("rename", renameat2, (int a, const char* from, int b, const char* to, unsigned how), a, from, b, to, how)
RENAME("link", link, (const char* from, const char* to), from, to)
RENAME("unlink", unlink, (const char* to), to)
EXPORT int ftruncate(int file, off_t size) {
    NEXT(ftruncate);
    return played("truncate", below(file), [&] { return real(file, size); });
}
EXPORT int ftruncate64(int file, off_t size) {
    NEXT(ftruncate64);
    return played("truncate", below(file), [&] { return real(file, size); });
}
EXPORT int fchmod(int file, mode_t mode) {
    NEXT(fchmod);
    return played("chmod", below(file), [&] { return real(file, mode); });
}
