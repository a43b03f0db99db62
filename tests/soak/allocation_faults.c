// A library for LD_PRELOAD that refuses a program one allocation, or that one and all later ones: malloc, calloc, realloc (so also
// operator new), aligned ones, and mappings of memory that the program asks for itself.
//
//   GPUPROF_ALLOCATION=N          of main(), from 1; N+: all later ones too; 0: none. What runs before main() does not count, nor do
//                                 child processes
//   GPUPROF_ALLOCATION_COUNT=FILE is their number so far, a long of the machine
//
// A program that is loaded by another language's interpreter has no main() of its own: allocation_faults_begin() and
// allocation_faults_end() count between two calls instead.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static atomic_long own_count;
static atomic_long* count = &own_count;
static atomic_int counting;
static long fails_at;
static int and_later;

static int refused(void) {
    if (!atomic_load_explicit(&counting, memory_order_relaxed)) return 0;
    long number = atomic_fetch_add(count, 1) + 1;
    if (fails_at == 0 || number < fails_at || (number > fails_at && !and_later)) return 0;
    errno = ENOMEM;
    return 1;
}

void* malloc(size_t size) { return refused() ? NULL : __libc_malloc(size); }
void* calloc(size_t items, size_t size) { return refused() ? NULL : __libc_calloc(items, size); }
void* realloc(void* block, size_t size) { return refused() ? NULL : __libc_realloc(block, size); }
void* memalign(size_t alignment, size_t size) { return refused() ? NULL : __libc_memalign(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) { return refused() ? NULL : __libc_memalign(alignment, size); }
int posix_memalign(void** block, size_t alignment, size_t size) {
    void* made = refused() ? NULL : __libc_memalign(alignment, size);
    if (made == NULL) return ENOMEM;
    *block = made;
    return 0;
}
void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
    static void* (*next)(void*, size_t, int, int, int, off_t);
    if (next == NULL) next = (void* (*)(void*, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
    return refused() ? MAP_FAILED : next(at, size, protection, flags, file, offset);
}

__attribute__((visibility("default"))) void allocation_faults_begin(long number, int all) {
    atomic_store(count, 0);
    fails_at = number;
    and_later = all;
    atomic_store(&counting, 1);
}

__attribute__((visibility("default"))) long allocation_faults_end(void) {
    atomic_store(&counting, 0);
    return atomic_load(count);
}

static void stop_counting(void) { atomic_store(&counting, 0); }

// The counter itself, because some programs end without exit().
static void count_into(const char* name) {
    int file = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof *count) != 0) abort();
    void* mapped = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) abort();
    count = mapped;
    close(file);
}

static int (*real_main)(int, char**, char**);
static int counted_main(int words, char** arguments, char** environment) {
    const char* plan = getenv("GPUPROF_ALLOCATION");
    const char* file = getenv("GPUPROF_ALLOCATION_COUNT");
    if (plan == NULL) return real_main(words, arguments, environment);
    if (file != NULL) count_into(file);
    char* rest = NULL;
    long number = strtol(plan, &rest, 10);
    int all = *rest == '+';
    unsetenv("GPUPROF_ALLOCATION");
    unsetenv("GPUPROF_ALLOCATION_COUNT");
    unsetenv("LD_PRELOAD");
    if (pthread_atfork(NULL, NULL, stop_counting) != 0) abort();
    allocation_faults_begin(number, all);
    return real_main(words, arguments, environment);
}

int __libc_start_main(int (*main)(int, char**, char**), int words, char** arguments, void (*init)(void), void (*fini)(void),
                      void (*linker)(void), void* stack) {
    int (*next)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*);
    *(void**)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = main;
    return next(counted_main, words, arguments, init, fini, linker, stack);
}
