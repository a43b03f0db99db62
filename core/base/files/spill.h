// Bounds the memory of a process whose arrays may outgrow it: external memory, with the same addresses and results.
// While a Spill lives, large blocks stay on the heap up to `heap_bytes`. The others are
// shared mappings of files without a name, one file per block, so that a block grows without being copied. Whenever the
// process holds more than `resident_bytes`, a thread gives the pages of all these blocks back: the system keeps them in
// its cache of files, writes them if it needs the room, and reads them again on access. A short run on a machine with
// free memory never touches the disk.
//
// Large blocks are those of PodVector and LargeVector (core/base/large_block.h).
//
// Space on the disk is reserved when a block grows, because a write through a mapping cannot fail in an orderly way. If
// the disk is full, the process ends with one line and ExitCode::internal, as it does without memory: no caller of a
// growing array could continue. Folders in memory (tmpfs) and those that cannot reserve space are not used. Without a
// folder that can be used, everything stays on the heap.
//
// Not bounded: what is not in large blocks, such as maps of many small nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::inline base {

struct SpillPlan {
    std::vector<std::string> folders;  // in order of preference
    std::uint64_t heap_bytes = 0;      // of large blocks on the heap
    std::uint64_t resident_bytes = 0;  // of the whole process
    std::size_t least_block = std::size_t{1} << 20;
};

// The folder in TMPDIR if it is set, then `beside`, /var/tmp and /tmp.
std::vector<std::string> spill_folders(const std::string& output_folder);

// Gives the system the memory of freed blocks, some of which are otherwise kept for the next ones.
void return_spare_memory();
// From now on, none are kept: for a program whose memory counts more than the time to clear pages.
void keep_no_spare_memory();

// At most one at a time. Blocks may outlive it.
class Spill {
public:
    explicit Spill(SpillPlan plan);
    ~Spill();
    Spill(const Spill&) = delete;
    Spill& operator=(const Spill&) = delete;

    // Bytes in files now.
    static std::uint64_t bytes();
};

}  // namespace gpuprof::base
