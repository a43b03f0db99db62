// The large blocks of a process that spills (core/base/files/spill.h says how): which are in files, and how much is on the heap.
// Any thread may grow and free blocks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "core/base/files/spill.h"

namespace gpuprof::inline base {

class SpilledBlocks {
public:
    // Null until the first Spill of the process.
    static SpilledBlocks* used() { return used_.load(std::memory_order_acquire); }
    static SpilledBlocks& use();

    void start(SpillPlan plan);
    void stop();
    // realloc and free.
    void* grow(void* block, std::size_t bytes);
    void free(void* block);
    std::uint64_t bytes() const { return in_files_; }

private:
    struct File {
        int fd;
        std::size_t bytes;
    };
    using Files = std::unordered_map<void*, File>;
    struct Spare {
        void* block;
        int fd;
    };

    void* grow_file(Files::iterator known, std::size_t bytes);
    void* grow_on_heap(void* block, std::size_t old_bytes, std::size_t bytes);
    void* reuse_file(std::size_t bytes);
    void* make_file(std::size_t bytes);
    bool find_folder();
    void reserve(int fd, std::size_t from, std::size_t to);
    void give_back_pages();

    static std::atomic<SpilledBlocks*> used_;

    std::mutex mutex_;
    SpillPlan plan_;
    std::atomic<bool> active_ = false;
    bool sought_ = false;  // a folder; folder_ is empty if there is none
    std::string folder_;
    Files files_;
    std::multimap<std::size_t, Spare> spares_;  // by size
    std::size_t spare_bytes_ = 0;
    std::atomic<std::int64_t> on_heap_ = 0;  // of large blocks, since the first Spill
    std::atomic<std::uint64_t> in_files_ = 0;
    std::condition_variable changed_;
    std::thread giver_;
};

}  // namespace gpuprof::base
