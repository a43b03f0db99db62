// Keeps the slowest steps of the process (--keep-slow, --trigger): what is known of the steps, and the parts in which they
// are. One per recording, created only if steps are to be kept. Spool thread only.
#pragma once

#include <cstdint>

#include "collect/inject/process_meta.h"
#include "collect/inject/spool/part_ring.h"
#include "collect/inject/spool/scratch.h"
#include "collect/inject/spool/spool_file.h"
#include "collect/inject/steps/slow_steps.h"

namespace gpuprof::inject {

class StepKeeper {
public:
    // Null if no steps are to be kept, or out of memory.
    static StepKeeper* make(const SpoolFile& file) noexcept;

    // What the program's steps did since the last call.
    void take_events(StepWatch& watch) noexcept;
    // Whether the selection has changed since write().
    bool changed() const noexcept { return steps_.selections() != written_; }
    // Writes what is known of the steps; `ended`: the last time.
    void write(SpoolFile& file, const StepWatch& watch, bool ended) noexcept;

    // Of the current part, which began at `began` (CLOCK_MONOTONIC).
    bool part_ends(const SpoolFile& file, std::int64_t began, std::int64_t now) const noexcept;
    // Turns to a new file; returns whether it could be created. The parts that nothing needs any more are deleted.
    bool turn(SpoolFile& file, const char* folder, std::int64_t began) noexcept;
    const PartNumber& part() const noexcept { return part_; }
    // The program ends: deletes the parts without a kept step. `recorded`: the window is open, so a range that is still
    // open is a step that was recorded.
    void finish(const char* folder, bool recorded) noexcept;

private:
    SlowSteps steps_;
    PartRing parts_;
    Scratch bytes_;
    std::int64_t tried_ = 0;  // CLOCK_MONOTONIC of the last turn()
    PartNumber part_ = {};
    std::uint64_t stuck_ = 0, written_ = 0;
};

}  // namespace gpuprof::inject
