// A perf ring as the kernel writes it, for tests: records of context switches, appended at data_head.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <string>
#include <string_view>

#include "collect/cpu/perf_ring.h"

namespace gpuprof {

inline std::string number_bytes(std::uint64_t value, std::size_t size) {
    return std::string(reinterpret_cast<const char*>(&value), size);
}

inline std::string ids(pid_t process, pid_t thread) {
    return number_bytes(static_cast<std::uint64_t>(process), 4) + number_bytes(static_cast<std::uint64_t>(thread), 4);
}

inline std::string perf_record(std::uint32_t type, std::uint16_t misc, std::string_view body, pid_t process,
                               pid_t thread, TimeNs time, int cpu = 0) {
    std::size_t size = sizeof(perf_event_header) + body.size() + kSwitchTrailer;
    return number_bytes(type, 4) + number_bytes(misc, 2) + number_bytes(size, 2) + std::string(body) +
           ids(process, thread) + number_bytes(static_cast<std::uint64_t>(time), 8) +
           number_bytes(static_cast<std::uint64_t>(cpu), 8);
}

inline std::string switch_in(pid_t process, pid_t thread, TimeNs time) {
    return perf_record(PERF_RECORD_SWITCH, 0, "", process, thread, time);
}
inline std::string switch_out(pid_t process, pid_t thread, TimeNs time, bool preempted = false) {
    auto misc =
        static_cast<std::uint16_t>(PERF_RECORD_MISC_SWITCH_OUT | (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0));
    return perf_record(PERF_RECORD_SWITCH, misc, "", process, thread, time);
}
inline std::string executed(pid_t process, TimeNs time) {
    return perf_record(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC,
                       ids(process, process) + std::string("name\0\0\0\0", 8), process, process, time);
}
inline std::string renamed(pid_t process, TimeNs time) {
    return perf_record(PERF_RECORD_COMM, 0, ids(process, process) + std::string(8, '\0'), process, process, time);
}
inline std::string ended(pid_t process, pid_t thread, TimeNs time) {
    return perf_record(PERF_RECORD_EXIT, 0, ids(process, 1) + ids(thread, 1) + number_bytes(0, 8), process, thread,
                       time);
}
inline std::string lost_records(std::uint64_t count, TimeNs time) {
    return perf_record(PERF_RECORD_LOST, 0, number_bytes(7, 8) + number_bytes(count, 8), 0, 0, time);
}

// The control page and the data of one CPU, in one mapping.
class ScriptedRing {
public:
    explicit ScriptedRing(std::size_t page, std::size_t size) : page_(page), size_(size) {
        memory_ =
            static_cast<char*>(mmap(nullptr, page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    }
    void* memory() { return memory_; }
    perf_event_mmap_page& control() { return *reinterpret_cast<perf_event_mmap_page*>(memory_); }
    const char* data() const { return memory_ + page_; }
    std::size_t size() const { return size_; }
    // Leaves the ring as if everything up to `at` had been written and read.
    void begin_at(std::uint64_t at) { control().data_head = control().data_tail = at; }
    void append(std::string_view bytes) {
        for (char byte : bytes) memory_[page_ + (control().data_head++ & (size_ - 1))] = byte;
    }
    void free() { munmap(memory_, page_ + size_); }

private:
    std::size_t page_, size_;
    char* memory_;
};

}  // namespace gpuprof
