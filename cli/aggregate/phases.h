// In which phase of a program a kernel was launched: the name of the innermost NVTX range (push and pop) around the launch on its thread,
// without a number at its end. Only kMost names per rank are phases, the first ones that launch something; a launch in another range
// belongs to the innermost phase around that, or to none of them. Memory is bounded: 4,096 paths of nested ranges, and half a million changes
// of 16 threads.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/aggregate/totals.h"
#include "core/format/spool.h"

namespace gpuprof::inline cli {

class RangePhases {
public:
    RangePhases() : paths_(1) {}
    void add(std::uint32_t thread, const spool::HostEvent& event, std::string_view text);
    // Annotations are missing: which ranges are open is not known.
    void interrupt();
    // By CLOCK_REALTIME. A number of RankTotals::phases, to which it may add one.
    std::uint8_t at(std::uint32_t thread, TimeNs time, RankTotals& of);

private:
    using Path = std::uint32_t;  // in paths_; 0: no range
    static constexpr std::uint8_t kNotResolved = 255;
    struct RangePath {
        Path outer = 0;
        std::uint32_t name = 0;  // in texts_
        std::uint8_t phase = kNotResolved;
    };
    struct Thread {
        std::vector<std::pair<std::uint64_t, Path>> open = {};  // domain and path
        std::deque<std::pair<TimeNs, Path>> changes = {};
        bool complete = true;  // nothing before the first change is missing
    };
    bool forget_a_thread();
    Path inside(Path outer, std::uint32_t name);
    std::uint32_t name_of(std::string_view text);

    std::vector<RangePath> paths_;
    std::unordered_map<std::uint64_t, Path> inner_;  // by path and name
    std::vector<std::string> texts_;
    std::unordered_map<std::string, std::uint32_t> names_;
    std::unordered_map<std::uint64_t, std::uint32_t> registered_;  // by handle
    std::unordered_map<std::uint32_t, Thread> threads_;
    std::size_t changes_ = 0;  // of all threads
    bool interrupted_ = false;
};

}  // namespace gpuprof::cli
