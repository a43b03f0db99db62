// A library for LD_PRELOAD that makes calls of the injected library fail: the collector must cope with a full disk and
// with refused memory, threads and files wherever they strike. Only calls that libgpuprof_inject.so makes are touched
// (by return address), and those of the dynamic linker and libc on its behalf; never those of the program around it.
//
//   GPUPROF_FAULTIO="write 3 ENOSPC; malloc 17+; write 2 short; open 1 delay 50"
//
//   CALL N [WHAT]   the Nth call (from 1), or with N+ that one and every later one
//   CALL            open, write (write and writev), mmap, malloc (calloc and realloc too), thread (pthread_create),
//                   dlopen, atfork, atexit
//   WHAT            an error: ENOSPC, EIO, ENOMEM (the default), EAGAIN, EMFILE, EINTR, ...
//                   short: writes half; delay MS: works, later
//
// GPUPROF_FAULTIO_COUNTS=FILE: the number of each call so far, a line "CALL COUNT" each, written as the program exits.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace {

enum Call { kOpen, kWrite, kMmap, kMalloc, kThread, kDlopen, kAtfork, kAtexit, kCalls };
constexpr const char* kNames[kCalls] = {"open", "write", "mmap", "malloc", "thread", "dlopen", "atfork", "atexit"};
struct Error {
    const char* name;
    int number;
};
constexpr Error kErrors[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},       {"ENOMEM", ENOMEM},
                             {"EAGAIN", EAGAIN}, {"EMFILE", EMFILE}, {"EINTR", EINTR},
                             {"EACCES", EACCES}, {"EFBIG", EFBIG},   {"ENOENT", ENOENT}};
constexpr int kShort = -1;

struct Rule {
    Call call;
    long first, last;
    int error;  // kShort: a short write; 0: only a delay
    long delay_ms;
};
constexpr int kMaxRules = 32;
Rule rules[kMaxRules];
int rule_count = 0;
std::atomic<long> counts[kCalls];

// Where a library's code lies; 0 until it is mapped.
struct Range {
    std::atomic<std::uintptr_t> begin{0}, end{0};
    bool holds(void* address) const {
        auto at = reinterpret_cast<std::uintptr_t>(address);
        return at >= begin.load(std::memory_order_relaxed) && at < end.load(std::memory_order_relaxed);
    }
};
Range injected, linker;

// Calls of the injected library that this thread is in: of libc, and of the dynamic linker (which runs a library's own
// constructors too, so only its own calls count).
struct Inside {
    int libc, linker;
};
thread_local Inside inside __attribute__((tls_model("initial-exec"))) = {0, 0};
struct Within {
    int& depth;
    bool ours;
    Within(int& of, bool is) : depth(of), ours(is) { depth += ours; }
    ~Within() { depth -= ours; }
};

[[noreturn]] void refuse(const char* rule) {
    std::fprintf(stderr, "faultio: '%s' is no rule; see tests/fakes/faultio/faultio.cc\n", rule);
    std::abort();
}

void add_rule(const char* text) {
    char call[16] = "", which[16] = "", what[16] = "";
    Rule rule{kCalls, 0, 0, ENOMEM, 0};
    int words = std::sscanf(text, " %15s %15s %15s %ld", call, which, what, &rule.delay_ms);
    if (words <= 0) return;
    for (int i = 0; i < kCalls; ++i)
        if (std::strcmp(call, kNames[i]) == 0) rule.call = static_cast<Call>(i);
    rule.first = std::atol(which);
    rule.last = std::strchr(which, '+') != nullptr ? __LONG_MAX__ : rule.first;
    bool known = words < 3;
    for (const Error& error : kErrors)
        if (std::strcmp(what, error.name) == 0) rule.error = error.number, known = true;
    if (std::strcmp(what, "short") == 0) rule.error = kShort, known = true;
    if (std::strcmp(what, "delay") == 0) rule.error = 0, known = true;
    if (rule.call == kCalls || rule.first < 1 || !known || rule_count == kMaxRules) refuse(text);
    rules[rule_count++] = rule;
}

__attribute__((constructor)) void read_rules() {
    const char* text = std::getenv("GPUPROF_FAULTIO");
    char one[128];
    while (text != nullptr && *text != '\0') {
        std::size_t length = std::strcspn(text, ";");
        std::snprintf(one, sizeof one, "%.*s", static_cast<int>(length), text);
        add_rule(one);
        text += length + (text[length] == ';');
    }
}

__attribute__((destructor)) void write_counts() {
    const char* path = std::getenv("GPUPROF_FAULTIO_COUNTS");
    std::FILE* file = path != nullptr && injected.begin != 0 ? std::fopen(path, "w") : nullptr;
    if (file == nullptr) return;
    for (int i = 0; i < kCalls; ++i) std::fprintf(file, "%s %ld\n", kNames[i], counts[i].load());
    std::fclose(file);
}

int find_ranges(dl_phdr_info* library, std::size_t, void*) {
    Range* range = nullptr;
    if (std::strstr(library->dlpi_name, "/libgpuprof_inject.so") != nullptr) range = &injected;
    if (std::strstr(library->dlpi_name, "/ld-linux") != nullptr) range = &linker;
    if (range == nullptr || range->begin != 0) return 0;
    std::uintptr_t last = 0;
    for (int i = 0; i < library->dlpi_phnum; ++i)
        if (library->dlpi_phdr[i].p_type == PT_LOAD)
            last = std::max<std::uintptr_t>(last, library->dlpi_phdr[i].p_vaddr + library->dlpi_phdr[i].p_memsz);
    range->end = library->dlpi_addr + last;
    range->begin = library->dlpi_addr;
    return 0;
}

// Whether memory is wanted by the injected library, or on its behalf.
bool wants_memory(void* caller) {
    return injected.holds(caller) || inside.libc > 0 || (inside.linker > 0 && linker.holds(caller));
}

// What is to happen to this call; null: nothing. Waits when a rule says so.
const Rule* judge(Call call, bool ours) {
    if (!ours) return nullptr;
    long number = counts[call].fetch_add(1) + 1;
    for (int i = 0; i < rule_count; ++i) {
        const Rule& rule = rules[i];
        if (rule.call != call || number < rule.first || number > rule.last) continue;
        timespec wait{rule.delay_ms / 1000, rule.delay_ms % 1000 * 1'000'000};
        if (rule.delay_ms > 0) nanosleep(&wait, nullptr);
        if (rule.error == 0) continue;
        if (rule.error != kShort) errno = rule.error;
        return &rule;
    }
    return nullptr;
}

template <class Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define CALLER __builtin_return_address(0)
#define NEXT(name) static auto* real = next<decltype(&name)>(#name)
#define EXPORT extern "C" __attribute__((visibility("default")))

extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_calloc(std::size_t, std::size_t);
extern "C" void* __libc_realloc(void*, std::size_t);

EXPORT void* malloc(std::size_t size) { return judge(kMalloc, wants_memory(CALLER)) ? nullptr : __libc_malloc(size); }
EXPORT void* calloc(std::size_t count, std::size_t size) {
    return judge(kMalloc, wants_memory(CALLER)) ? nullptr : __libc_calloc(count, size);
}
EXPORT void* realloc(void* memory, std::size_t size) {
    return judge(kMalloc, wants_memory(CALLER)) ? nullptr : __libc_realloc(memory, size);
}

EXPORT int open(const char* path, int flags, ...) {
    NEXT(open);
    va_list more;
    va_start(more, flags);
    int mode = va_arg(more, int);  // garbage when it was not given, which the real one then ignores
    va_end(more);
    return judge(kOpen, injected.holds(CALLER)) ? -1 : real(path, flags, mode);
}
EXPORT int open64(const char* path, int flags, ...) {
    NEXT(open64);
    va_list more;
    va_start(more, flags);
    int mode = va_arg(more, int);
    va_end(more);
    return judge(kOpen, injected.holds(CALLER)) ? -1 : real(path, flags, mode);
}

EXPORT ssize_t write(int file, const void* bytes, std::size_t size) {
    NEXT(write);
    const Rule* rule = judge(kWrite, injected.holds(CALLER));
    if (rule == nullptr) return real(file, bytes, size);
    return rule->error == kShort ? real(file, bytes, (size + 1) / 2) : -1;
}
EXPORT ssize_t writev(int file, const iovec* parts, int count) {
    NEXT(writev);
    const Rule* rule = judge(kWrite, injected.holds(CALLER));
    if (rule == nullptr) return real(file, parts, count);
    if (rule->error != kShort) return -1;
    std::size_t size = 0;
    for (int i = 0; i < count; ++i) size += parts[i].iov_len;
    std::size_t done = 0;
    for (int i = 0; i < count && done < size / 2; ++i) {
        std::size_t part = std::min(parts[i].iov_len, size / 2 - done);
        ssize_t written = ::write(file, parts[i].iov_base, part);
        if (written < 0) return done > 0 ? static_cast<ssize_t>(done) : -1;
        done += static_cast<std::size_t>(written);
    }
    return static_cast<ssize_t>(done);
}

EXPORT void* mmap(void* at, std::size_t size, int access, int flags, int file, off_t offset) {
    NEXT(mmap);
    return judge(kMmap, injected.holds(CALLER)) ? MAP_FAILED : real(at, size, access, flags, file, offset);
}
EXPORT void* mmap64(void* at, std::size_t size, int access, int flags, int file, off_t offset) {
    NEXT(mmap64);
    return judge(kMmap, injected.holds(CALLER)) ? MAP_FAILED : real(at, size, access, flags, file, offset);
}

EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*run)(void*), void* argument) {
    NEXT(pthread_create);
    bool ours = injected.holds(CALLER);
    if (const Rule* rule = judge(kThread, ours)) return rule->error;
    Within on_behalf(inside.libc, ours);
    return real(thread, how, run, argument);
}

EXPORT void* dlopen(const char* path, int flags) {
    NEXT(dlopen);
    bool ours = injected.holds(CALLER);
    if (judge(kDlopen, ours)) return nullptr;
    Within on_behalf(inside.linker, ours);
    void* library = real(path, flags);
    if (injected.begin == 0 && path != nullptr && std::strstr(path, "/libgpuprof_inject.so") != nullptr)
        dl_iterate_phdr(find_ranges, nullptr);
    return library;
}

extern "C" int __register_atfork(void (*)(), void (*)(), void (*)(), void*);
EXPORT int __register_atfork(void (*before)(), void (*parent)(), void (*child)(), void* library) {
    NEXT(__register_atfork);
    bool ours = injected.holds(CALLER);
    if (const Rule* rule = judge(kAtfork, ours)) return rule->error;
    Within on_behalf(inside.libc, ours);
    return real(before, parent, child, library);
}
extern "C" int __cxa_atexit(void (*)(void*), void*, void*);
EXPORT int __cxa_atexit(void (*run)(void*), void* argument, void* library) {
    NEXT(__cxa_atexit);
    bool ours = injected.holds(CALLER);
    if (judge(kAtexit, ours)) return -1;
    Within on_behalf(inside.libc, ours);
    return real(run, argument, library);
}
