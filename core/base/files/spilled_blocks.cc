#include "core/base/files/spilled_blocks.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "core/base/exit_code.h"
#include "core/base/files/storage.h"
#include "core/base/files/temporary_file.h"
#include "core/base/large_block.h"
#include "core/base/signal_blocked_thread.h"

namespace gpuprof::inline base {
namespace {

// Smaller blocks are not counted.
constexpr std::size_t kLarge = std::size_t{64} << 10;

// Of freed files that are kept for the next blocks.
constexpr std::size_t kMaxSpare = std::size_t{256} << 20;

std::size_t large(std::size_t bytes) { return bytes < kLarge ? 0 : bytes; }

// Files are mapped at whole pages. The C library's blocks begin after a header of their own, hardly ever there.
bool is_of_file(const void* block) {
    constexpr std::uintptr_t kLeastPage = 4096;
    return block != nullptr && reinterpret_cast<std::uintptr_t>(block) % kLeastPage == 0;
}

// Between two looks at the memory of the process. Reading blocks from the system's cache takes up to 8 MB in this time.
constexpr std::chrono::milliseconds kPause{1};

// Resident memory of this process in bytes; 0 if unknown.
std::uint64_t resident_bytes() {
    static const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    std::array<char, 128> text{};
    ssize_t got = fd < 0 ? 0 : pread(fd, text.data(), text.size() - 1, 0);
    unsigned long long pages = 0;
    if (got <= 0 || std::sscanf(text.data(), "%*u %llu", &pages) != 1) return 0;
    return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// 0, or the error.
int reserve_space(int fd, std::size_t from, std::size_t to) {
    int failed = 0;
    do failed = fallocate(fd, 0, static_cast<off_t>(from), static_cast<off_t>(to - from)) == 0 ? 0 : errno;
    while (failed == EINTR);
    return failed;
}

}  // namespace

std::atomic<SpilledBlocks*> SpilledBlocks::used_ = nullptr;

// Never destroyed: blocks of static objects may outlive everything else.
SpilledBlocks& SpilledBlocks::use() {
    static SpilledBlocks& only = *new SpilledBlocks;
    used_.store(&only, std::memory_order_release);
    return only;
}

void SpilledBlocks::start(SpillPlan plan) {
#ifdef M_MMAP_THRESHOLD
    // A freed block shall leave the process. By default, the threshold grows with the blocks that were freed.
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
    std::lock_guard lock(mutex_);
    plan_ = std::move(plan);
    sought_ = false;
    folder_.clear();
    active_ = true;
}

void SpilledBlocks::stop() {
    {
        std::lock_guard lock(mutex_);
        active_ = false;
    }
    changed_.notify_all();
    if (giver_.joinable()) giver_.join();
    for (const auto& [size, spare] : spares_) {
        munmap(spare.block, size);
        close(spare.fd);
    }
    spares_.clear();
    spare_bytes_ = 0;
}

void* SpilledBlocks::grow(void* block, std::size_t bytes) {
    if (is_of_file(block)) {
        std::unique_lock lock(mutex_);
        if (auto known = files_.find(block); known != files_.end()) return grow_file(known, bytes);
    }
    std::size_t old_bytes = block == nullptr ? 0 : malloc_usable_size(block);
    if (!active_) return grow_on_heap(block, old_bytes, bytes);
    auto more = static_cast<std::int64_t>(bytes - large(old_bytes));
    if (bytes < plan_.least_block || on_heap_ + more <= static_cast<std::int64_t>(plan_.heap_bytes)) {
        if (void* grown = grow_on_heap(block, old_bytes, bytes))
            return grown;  // else something outside blocks fills the heap
    }
    void* made = nullptr;
    {
        std::lock_guard lock(mutex_);
        if (find_folder()) made = make_file(bytes);
    }
    if (made == nullptr) return grow_on_heap(block, old_bytes, bytes);
    if (old_bytes > 0) std::memcpy(made, block, std::min(old_bytes, bytes));
    on_heap_ -= static_cast<std::int64_t>(large(old_bytes));
    std::free(block);
    return made;
}

void* SpilledBlocks::grow_on_heap(void* block, std::size_t old_bytes, std::size_t bytes) {
    void* grown = std::realloc(block, bytes);
    if (grown == nullptr || std::max(old_bytes, bytes) < kLarge) return grown;
    on_heap_ +=
        static_cast<std::int64_t>(large(malloc_usable_size(grown))) - static_cast<std::int64_t>(large(old_bytes));
    return grown;
}

void SpilledBlocks::free(void* block) {
    if (block == nullptr) return;
    if (is_of_file(block)) {
        std::unique_lock lock(mutex_);
        if (auto known = files_.find(block); known != files_.end()) {
            File file = known->second;
            files_.erase(known);
            in_files_ -= file.bytes;
            if (active_ && spare_bytes_ + file.bytes <= kMaxSpare) {
                spares_.emplace(file.bytes, Spare{block, file.fd});
                spare_bytes_ += file.bytes;
                return;
            }
            lock.unlock();
            munmap(block, file.bytes);
            close(file.fd);
            return;
        }
    }
    on_heap_ -= static_cast<std::int64_t>(large(malloc_usable_size(block)));
    std::free(block);
}

// The lock is held.
void* SpilledBlocks::grow_file(Files::iterator known, std::size_t bytes) {
    File file = known->second;
    if (bytes <= file.bytes) return known->first;
    reserve(file.fd, file.bytes, bytes);
    void* moved = mremap(known->first, file.bytes, bytes, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) return nullptr;
    files_.erase(known);
    files_.emplace(moved, File{file.fd, bytes});
    in_files_ += bytes - file.bytes;
    return moved;
}

// The smallest freed file that is large enough, but not much larger; null if there is none. Its pages are in the system's
// cache, and making them costs more than writing them.
void* SpilledBlocks::reuse_file(std::size_t bytes) {
    auto found = spares_.lower_bound(bytes);
    if (found == spares_.end() || found->first > 2 * bytes) return nullptr;
    auto [size, spare] = *found;
    spares_.erase(found);
    spare_bytes_ -= size;
    files_.emplace(spare.block, File{spare.fd, size});
    in_files_ += size;
    return spare.block;
}

// Null if there are too many files or mappings: the block is one of the heap then.
void* SpilledBlocks::make_file(std::size_t bytes) {
    if (void* reused = reuse_file(bytes)) return reused;
    int fd = open_nameless_file(folder_);
    if (fd < 0) return nullptr;
    reserve(fd, 0, bytes);
    void* made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (made == MAP_FAILED) {
        close(fd);
        return nullptr;
    }
    files_.emplace(made, File{fd, bytes});
    in_files_ += bytes;
    try {
        if (!giver_.joinable()) giver_ = signal_blocked_thread([this] { give_back_pages(); });
        changed_.notify_all();
    } catch (const std::exception&) {  // no thread, or no memory for it
        // The system decides alone which pages stay.
    }
    return made;
}

// The first folder that is on a disk and has room.
bool SpilledBlocks::find_folder() {
    if (std::exchange(sought_, true)) return !folder_.empty();
    auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (const std::string& folder : plan_.folders) {
        StorageKind kind = storage_of(folder);
        if (kind == StorageKind::memory || kind == StorageKind::unknown) continue;
        int fd = open_nameless_file(folder);
        if (fd < 0) continue;
        bool usable = reserve_space(fd, 0, page) == 0;
        close(fd);
        if (!usable) continue;
        folder_ = folder;
        return true;
    }
    return false;
}

void SpilledBlocks::reserve(int fd, std::size_t from, std::size_t to) {
    int failed = reserve_space(fd, from, to);
    if (failed == 0) return;
    std::fprintf(stderr,
                 "gpu-profile: cannot write temporary data to %s: %s (%zu MB more than the %zu MB there); set TMPDIR "
                 "to a folder with more room\n",
                 folder_.c_str(), std::strerror(failed), (to - from) / 1'000'000, bytes() / 1'000'000);
    std::_Exit(static_cast<int>(ExitCode::internal));
}

void SpilledBlocks::give_back_pages() {
    std::unique_lock lock(mutex_);
    while (active_) {
        if (files_.empty())
            changed_.wait(lock);
        else
            changed_.wait_for(lock, kPause);
        if (files_.empty() || resident_bytes() <= plan_.resident_bytes) continue;
        for (const auto& [block, file] : files_) (void)madvise(block, file.bytes, MADV_DONTNEED);
        for (const auto& [size, spare] : spares_) (void)madvise(spare.block, size, MADV_DONTNEED);
    }
}

namespace {

// Blocks that were freed, for those that are allocated next: clearing the pages of a new one costs more than most computations on it.
// Replays of a recording allocate the same sizes again and again. A block that fits no allocation is soon the oldest, and goes.
class KeptBlocks {
public:
    // Never destroyed: arrays may be freed while the process ends.
    static KeptBlocks& all() {
        static auto* kept = new KeptBlocks;
        return *kept;
    }
    bool keep(void* block) {
        if (block == nullptr || !keeps_.load(std::memory_order_relaxed)) return false;
        std::size_t size = malloc_usable_size(block);
        if (size < kLeast) return false;
        std::lock_guard lock(mutex_);
        while (count_ == kMost || (count_ > 0 && bytes_ + size > kMostBytes)) drop_oldest();
        if (size > kMostBytes) return false;
        blocks_[count_++] = {block, size};
        bytes_ += size;
        // The system may take the pages if it needs memory.
        static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
        std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(block) + page - 1) / page * page;
        std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(block) + size) / page * page;
        (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_FREE);
        return true;
    }
    // Null if none fits.
    void* take(std::size_t bytes) {
        if (bytes < kLeast) return nullptr;
        std::lock_guard lock(mutex_);
        for (std::size_t i = count_; i-- > 0;) {
            if (blocks_[i].size < bytes || blocks_[i].size - bytes > bytes / 4) continue;
            void* found = blocks_[i].block;
            remove(i);
            return found;
        }
        // A new block takes as much memory as these give back.
        for (std::size_t dropped = 0; count_ > 0 && dropped < bytes; drop_oldest()) dropped += blocks_[0].size;
        return nullptr;
    }
    // For a block that grows, which takes none of these.
    void make_room(std::size_t bytes) {
        if (bytes < kLeast) return;
        std::lock_guard lock(mutex_);
        if (count_ > 0) drop_oldest();
    }
    void keep_none() { keeps_.store(false, std::memory_order_relaxed); }
    void drop_all() {
        std::lock_guard lock(mutex_);
        while (count_ > 0) drop_oldest();
    }

private:
    static constexpr std::size_t kLeast = std::size_t{32} << 20, kMostBytes = std::size_t{1} << 29, kMost = 8;
    struct Kept {
        void* block;
        std::size_t size;
    };
    void drop_oldest() {
        std::free(blocks_[0].block);
        remove(0);
    }
    void remove(std::size_t i) {
        bytes_ -= blocks_[i].size;
        std::copy(blocks_.begin() + i + 1, blocks_.begin() + count_, blocks_.begin() + i);
        --count_;
    }
    std::mutex mutex_;
    std::array<Kept, kMost> blocks_{};  // oldest first
    std::size_t count_ = 0, bytes_ = 0;
    std::atomic<bool> keeps_ = true;
};

}  // namespace

void* grow_large_block(void* block, std::size_t bytes) {
    if (SpilledBlocks* spilled = SpilledBlocks::used()) return spilled->grow(block, bytes);
    if (block == nullptr) {
        if (void* kept = KeptBlocks::all().take(bytes)) return kept;
    } else {
        KeptBlocks::all().make_room(bytes);
    }
    void* grown = std::realloc(block, bytes);
    if (grown != nullptr || bytes == 0) return grown;
    KeptBlocks::all().drop_all();
    return std::realloc(block, bytes);
}

void free_large_block(void* block) {
    if (SpilledBlocks* spilled = SpilledBlocks::used()) return spilled->free(block);
    if (!KeptBlocks::all().keep(block)) std::free(block);
}

void return_spare_memory() {
    KeptBlocks::all().drop_all();
    malloc_trim(0);
}

void keep_no_spare_memory() { KeptBlocks::all().keep_none(); }

std::vector<std::string> spill_folders(const std::string& output_folder) {
    std::vector<std::string> folders = temporary_folders();
    folders.insert(folders.end() - 2, output_folder.empty() ? "." : output_folder);  // after TMPDIR
    return folders;
}

Spill::Spill(SpillPlan plan) {
    KeptBlocks::all().drop_all();
    SpilledBlocks::use().start(std::move(plan));
}

Spill::~Spill() { SpilledBlocks::use().stop(); }

std::uint64_t Spill::bytes() { return SpilledBlocks::use().bytes(); }

}  // namespace gpuprof::base
