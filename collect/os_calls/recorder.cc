#include "collect/os_calls/recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "collect/inject/process_status.h"
#include "collect/inject/settings.h"
#include "core/schema/os_call_meta_keys.h"

namespace gpuprof::os_calls {

OwnPage* own_page = nullptr;
SharedCounts* shared_counts = nullptr;
__thread bool recorders_thread = false;
__thread bool clockless = false;

namespace {

constexpr int kWipeOnFork = 18;  // MADV_WIPEONFORK, which the headers of older C libraries lack

enum LogState : std::uint32_t { kNone = 0, kBeginning = 1, kOpen = 2, kRefused = 3 };

// Most processes of a command make few calls. At most some 100 MB for one process.
constexpr std::size_t kFirstCapacity = 4096, kMaxCapacity = 64 * 1024;
constexpr std::uint32_t kMaxFiles = 68;

const inject::Settings* settings = nullptr;
bool filtered = true;             // by seccomp, since the program was started
std::atomic<bool> sealed{false};  // by itself, since then; children inherit it

// Whether any call may be made, not only those of the dynamic linker.
bool may_ask() noexcept { return !filtered && !sealed.load(std::memory_order_relaxed); }

// The system calls themselves: the C library's functions of these names are the ones that are timed.
long call(long number, long a = 0, long b = 0, long c = 0, long d = 0) noexcept {
    return next_syscall(number, a, b, c, d, 0, 0);
}
long word(const void* pointer) noexcept { return reinterpret_cast<long>(pointer); }

// A path in the page, without the C library's formatting, which may lock. One thread at a time begins a log.
class Path {
public:
    explicit Path(OwnPage* page) noexcept : text_(page->path) { add(settings->folder); }
    void add(const char* text) noexcept {
        while (*text != '\0' && size_ + 1 < sizeof OwnPage::path) text_[size_++] = *text++;
        text_[size_] = '\0';
    }
    void add(std::uint64_t number) noexcept {
        char digits[24];
        std::size_t at = sizeof digits;
        digits[--at] = '\0';
        do digits[--at] = static_cast<char>('0' + number % 10);
        while ((number /= 10) != 0);
        add(digits + at);
    }
    const char* text() const noexcept { return text_; }

private:
    char* text_;
    std::size_t size_ = 0;
};
static_assert(sizeof OwnPage::path > sizeof inject::Settings::folder + 64);

// Blocks of the disk for the whole new file: a mapped page without one ends the program when the disk is full (SIGBUS).
bool reserve(int file, std::size_t bytes) noexcept {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    if (limit.rlim_cur < bytes) {  // a larger file ends the program
        errno = EFBIG;
        return false;
    }
    if (may_ask()) {
        if (call(SYS_fallocate, file, 0, 0, static_cast<long>(bytes)) == 0) return true;
        if (errno != EOPNOTSUPP && errno != ENOSYS) return false;
    }
    static constexpr char kZeros[4096] = {};
    for (std::size_t at = 0; at < bytes;) {
        long written = call(SYS_write, file, word(kZeros), static_cast<long>(std::min(sizeof kZeros, bytes - at)));
        if (written <= 0) return false;
        at += static_cast<std::size_t>(written);
    }
    return true;
}

// The launcher creates this file when the recording has reached its size, or the disk is full.
bool is_full(OwnPage* page) noexcept {
    if (!settings->limited) return false;
    Path path(page);
    path.add("/full");
    long file = call(SYS_openat, AT_FDCWD, word(path.text()), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    call(SYS_close, file);
    errno = ENOSPC;
    return true;
}

LogHeader* map_log(OwnPage* page, std::size_t capacity) noexcept {
    if (is_full(page)) return nullptr;
    Path path(page);
    path.add("/");
    path.add(static_cast<std::uint64_t>(page->process));
    path.add("-");
    path.add(static_cast<std::uint64_t>(realtime_ns()));
    path.add(meta_key::kOsCallLogSuffix);
    long file = call(SYS_openat, AT_FDCWD, word(path.text()), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return nullptr;
    std::size_t bytes = log_bytes(capacity);
    void* memory = MAP_FAILED;
    if (reserve(static_cast<int>(file), bytes))
        memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, static_cast<int>(file), 0);
    int problem = errno;
    call(SYS_close, file);
    if (memory == MAP_FAILED) {
        if (may_ask()) call(SYS_unlinkat, AT_FDCWD, word(path.text()), 0);
        errno = problem;
        return nullptr;
    }
    auto* log = static_cast<LogHeader*>(memory);  // all of it is 0
    log->build = build_of_log();
    log->process = page->process;
    log->capacity = capacity;
    log->least_ns = static_cast<std::uint64_t>(settings->os_calls_ns);
    std::atomic_ref<std::uint64_t>(log->magic).store(kLogMagic, std::memory_order_release);
    return log;
}

// After a full log; threads that find it full before this one is ready drop their calls.
LogHeader* next_log(OwnPage* page) noexcept {
    if (page->files >= kMaxFiles || sealed.load(std::memory_order_relaxed)) return nullptr;
    std::size_t capacity = std::min(kMaxCapacity, kFirstCapacity << std::min<std::uint32_t>(page->files, 8));
    LogHeader* log = map_log(page, capacity);
    ++page->files;
    if (log != nullptr) page->log.store(log, std::memory_order_release);
    return log;
}

// Of this process. The dynamic linker's calls answer it where getpid might end the program.
std::int64_t process_id() noexcept {
    return may_ask() ? call(SYS_getpid) : static_cast<std::int64_t>(inject::read_process_status().process);
}

// Of the calling thread. Without a call: the C library enters it into a mutex that looks for errors.
std::int32_t thread_id() noexcept {
    if (may_ask()) return static_cast<std::int32_t>(call(SYS_gettid));
    pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    pthread_mutex_lock(&mutex);
    std::int32_t thread = mutex.__data.__owner;
    pthread_mutex_unlock(&mutex);
    return thread;
}

// The launcher's file: by its path, which another user cannot read, or by the descriptor, which some programs close.
void share_counts(OwnPage* page) noexcept {
    Path path(page);
    path.add("/");
    path.add(meta_key::kOsCallShare);
    long file = call(SYS_openat, AT_FDCWD, word(path.text()), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    bool opened = file >= 0;
    struct stat about {};
    if (!opened) file = settings->os_calls_share;
    if (file <= 0 || fstat(static_cast<int>(file), &about) != 0) return;
    if (opened || (static_cast<std::int64_t>(about.st_dev) == settings->os_calls_device &&
                   static_cast<std::int64_t>(about.st_ino) == settings->os_calls_inode)) {
        void* memory = MAP_FAILED;
        if (S_ISREG(about.st_mode) && about.st_size == kSharedBytes)
            memory = mmap(nullptr, kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, static_cast<int>(file), 0);
        if (memory != MAP_FAILED) {
            auto* counts = static_cast<SharedCounts*>(memory);
            if (counts->magic == kLogMagic && counts->build == build_of_log()) {
                counts->programs.fetch_add(1, std::memory_order_relaxed);
                shared_counts = counts;
            }
        }
    }
    if (opened) call(SYS_close, file);
}

// In the child of fork(), where the kernel has not wiped the page.
void wipe() noexcept {
    OwnPage* page = own_page;
    page->log.store(nullptr, std::memory_order_relaxed);
    page->files = 0;
    page->state.store(kNone, std::memory_order_release);
}

// Before the constructors of most libraries, and before any thread.
[[gnu::constructor]] void prepare() {
    const inject::Settings& read = inject::settings();
    if (!read.active || read.os_calls_ns <= 0) return;
    settings = &read;
    filtered = inject::read_process_status().filtered;
    void* memory = mmap(nullptr, sizeof(OwnPage), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    auto* page = new (memory) OwnPage{};
    share_counts(page);
    bool alone = filtered ? pthread_atfork(nullptr, nullptr, wipe) == 0
                          : madvise(memory, sizeof(OwnPage), kWipeOnFork) == 0;  // since Linux 4.14
    if (!alone) return;
    own_page = page;
    begin_log();
}

}  // namespace

LogHeader* begin_log() noexcept {
    OwnPage* page = own_page;
    std::uint32_t none = kNone;
    if (!page->state.compare_exchange_strong(none, kBeginning, std::memory_order_acq_rel)) return nullptr;
    errno = 0;
    bool asks = !sealed.load(std::memory_order_relaxed);
    if (asks) page->process = process_id();
    LogHeader* log = asks ? next_log(page) : nullptr;
    if (log == nullptr && shared_counts != nullptr) {
        shared_counts->error.store(static_cast<std::uint64_t>(errno), std::memory_order_relaxed);
        shared_counts->refused.fetch_add(1, std::memory_order_relaxed);
    }
    page->state.store(log != nullptr ? kOpen : kRefused, std::memory_order_release);
    return log;
}

void seal() noexcept { sealed.store(true, std::memory_order_relaxed); }

void count_untimed() noexcept {
    if (shared_counts != nullptr) shared_counts->dropped.fetch_add(1, std::memory_order_relaxed);
}

void count_lost(std::int64_t ns) noexcept {
    OwnPage* page = own_page;
    if (page == nullptr || page->state.load(std::memory_order_relaxed) != kRefused) return;
    if (ns >= settings->os_calls_ns) shared_counts->dropped.fetch_add(1, std::memory_order_relaxed);
}

void enter(LogHeader* log, Function function, std::int64_t ns) noexcept {
    OwnPage* page = own_page;
    if (recorders_thread || (may_ask() && call(SYS_getpid) != page->process)) return;
    std::uint64_t place = log->begun.fetch_add(1, std::memory_order_relaxed);
    if (place == log->capacity) {  // one thread comes here
        if (LogHeader* next = next_log(page); next != nullptr) {
            log = next;
            place = log->begun.fetch_add(1, std::memory_order_relaxed);
        }
    }
    if (place >= log->capacity) {
        log->dropped.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    Call& entry = reinterpret_cast<Call*>(log + 1)[place];
    entry.start = realtime_ns() - ns;
    entry.ns = ns;
    entry.thread = thread_id();
    entry.function.store(static_cast<std::uint32_t>(function) + 1, std::memory_order_release);
}

}  // namespace gpuprof::os_calls

// Called by the collector's own thread (collect/inject/collector.cc), if both libraries are preloaded.
extern "C" __attribute__((visibility("default"))) void gpuprof_os_calls_leave_out_thread() {
    gpuprof::os_calls::recorders_thread = true;
}
