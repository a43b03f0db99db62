#include "collect/os_calls/recorder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "collect/inject/settings.h"
#include "core/schema/os_call_facts.h"

namespace gpuprof::os_calls {

OwnPage* own_page = nullptr;
__thread bool recorders_thread = false;

namespace {

constexpr int kWipeOnFork = 18;  // MADV_WIPEONFORK, which the headers of older C libraries lack

enum LogState : std::uint32_t { kNone = 0, kBeginning = 1, kOpen = 2, kRefused = 3 };

// Most processes of a command make few calls. At most some 100 MB for one process.
constexpr std::size_t kFirstCapacity = 4096, kMaxCapacity = 64 * 1024;
constexpr std::uint32_t kMaxFiles = 68;

const inject::Settings* settings = nullptr;

// The system calls themselves: the C library's functions of these names are the ones that are timed.
long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) noexcept {
    return syscall(number, a, b, c, d, e, f);
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

// Blocks of the disk for the whole file: a mapped page without one ends the program when the disk is full (SIGBUS).
bool reserve(int file, std::size_t bytes) noexcept {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < bytes) return false;  // a larger file ends the program
    if (call(SYS_fallocate, file, 0, 0, static_cast<long>(bytes)) == 0) return true;
    if (errno != EOPNOTSUPP && errno != ENOSYS) return false;
    static constexpr char kZeros[4096] = {};
    for (std::size_t at = 0; at < bytes;) {
        long written = call(SYS_pwrite64, file, word(kZeros), static_cast<long>(std::min(sizeof kZeros, bytes - at)),
                            static_cast<long>(at));
        if (written <= 0) return false;
        at += static_cast<std::size_t>(written);
    }
    return true;
}

// The launcher creates this file when the recording has reached its size, or the disk is full.
bool is_full(OwnPage* page) noexcept {
    Path path(page);
    path.add("/full");
    return settings->limited && call(SYS_faccessat, AT_FDCWD, word(path.text()), F_OK) == 0;
}

LogHeader* map_log(OwnPage* page, std::size_t capacity) noexcept {
    if (is_full(page)) return nullptr;
    Path path(page);
    path.add("/"), path.add(static_cast<std::uint64_t>(page->process)), path.add("-");
    path.add(static_cast<std::uint64_t>(realtime_ns())), path.add(fact::kOsCallLogSuffix);
    long file = call(SYS_openat, AT_FDCWD, word(path.text()), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return nullptr;
    std::size_t bytes = log_bytes(capacity);
    void* memory = MAP_FAILED;
    if (reserve(static_cast<int>(file), bytes))
        memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, static_cast<int>(file), 0);
    call(SYS_close, file);
    if (memory == MAP_FAILED) {
        call(SYS_unlinkat, AT_FDCWD, word(path.text()), 0);
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
    if (page->files >= kMaxFiles) return nullptr;
    std::size_t capacity = std::min(kMaxCapacity, kFirstCapacity << std::min<std::uint32_t>(page->files, 8));
    LogHeader* log = map_log(page, capacity);
    ++page->files;
    if (log != nullptr) page->log.store(log, std::memory_order_release);
    return log;
}

// Before the constructors of most libraries, and before any thread.
[[gnu::constructor]] void prepare() {
    const inject::Settings& read = inject::settings();
    if (!read.active || read.os_calls_ns <= 0) return;
    settings = &read;
    void* memory = mmap(nullptr, sizeof(OwnPage), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    if (madvise(memory, sizeof(OwnPage), kWipeOnFork) != 0) return;  // before Linux 4.14
    own_page = new (memory) OwnPage{};
    begin_log();
}

}  // namespace

LogHeader* begin_log() noexcept {
    OwnPage* page = own_page;
    std::uint32_t none = kNone;
    if (!page->state.compare_exchange_strong(none, kBeginning, std::memory_order_acq_rel)) return nullptr;
    page->process = call(SYS_getpid);
    LogHeader* log = next_log(page);
    page->state.store(log != nullptr ? kOpen : kRefused, std::memory_order_release);
    return log;
}

void enter(LogHeader* log, Function function, std::int64_t ns) noexcept {
    OwnPage* page = own_page;
    if (recorders_thread || call(SYS_getpid) != page->process) return;
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
    entry.thread = static_cast<std::int32_t>(call(SYS_gettid));
    entry.function.store(static_cast<std::uint32_t>(function) + 1, std::memory_order_release);
}

}  // namespace gpuprof::os_calls

// Called by the collector's own thread (collect/inject/collector.cc), if both libraries are preloaded.
extern "C" __attribute__((visibility("default"))) void gpuprof_os_calls_leave_out_thread() {
    gpuprof::os_calls::recorders_thread = true;
}
