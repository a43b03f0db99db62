// Reads the ring buffer of a perf event that reports context switches (perf_event_open(2), "MMAP layout"): the kernel
// appends records and advances data_head, the reader advances data_tail. A record may wrap at the end of the buffer.
//
//   header  u32 type | u16 misc | u16 size, all in bytes with the header
//   body    SWITCH: none   EXIT: u32 pid, ppid, tid, ptid, u64 time   COMM: u32 pid, tid, name   LOST: u64 id, lost
//   trailer u32 pid, tid | u64 time | u32 cpu, 0                      (sample_type TID, TIME, CPU with sample_id_all)
//
// The kernel writes whole records only. A size that cannot be is damage: the rest of what has arrived is discarded and counted.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/ids.h"

namespace gpuprof::inline cpu {

struct SwitchRecord {
    enum class Kind { in, out, exec, exit, lost };
    Kind kind = Kind::in;
    bool preempted = false;  // out: still ready to run
    pid_t process = 0, thread = 0;
    TimeNs time = 0;
    std::uint64_t lost = 0;  // lost: number of records
};

// The size of the trailer above.
inline constexpr std::size_t kSwitchTrailer = 24;

// One whole record; absent if it is of another kind, or too short for its kind.
std::optional<SwitchRecord> parse_switch(std::string_view record);

class PerfRing {
public:
    // `data` of `size` bytes, a power of two. Both outlive this.
    PerfRing(perf_event_mmap_page& control, const char* data, std::size_t size)
        : control_(control), data_(data), size_(size) {}

    // Appends what has arrived to `into` and frees its space. Returns the number of bytes discarded as damaged.
    std::size_t read(std::vector<SwitchRecord>& into);

private:
    void copy(std::uint64_t from, std::size_t bytes, char* to) const;

    perf_event_mmap_page& control_;
    const char* data_;
    std::size_t size_;
};

}  // namespace gpuprof::cpu
