// The finished parts of a process that keeps only some of its steps: which files there are, and which of them nothing
// needs any more. Parts are stretches of time, not steps: a step's device work is delivered after its end.
//
// Bounds: a new part begins after half a second, after an eighth of the time that the oldest step in progress has lasted
// if that is longer, and when the part reaches kMaxPartBytes. A step of a day therefore has fewer than 100 parts, and
// the 64 steps that can be kept, with the one in progress, fewer than kMaxParts; if there are as many anyway, the current
// part grows. What the step in progress needs is at most `ring_bytes` long; beyond that its oldest parts are deleted.
// Spool thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "collect/inject/steps/slow_steps.h"

namespace gpuprof::inject {

class PartRing {
public:
    static constexpr std::size_t kMaxParts = 8192;
    static constexpr std::int64_t kMinLength = 500'000'000;
    static constexpr std::uint64_t kMaxPartBytes = std::uint64_t{128} << 20, kRingBytes = std::uint64_t{1} << 30;

    PartRing() = default;
    ~PartRing() { std::free(parts_); }
    PartRing(const PartRing&) = delete;
    PartRing& operator=(const PartRing&) = delete;

    // Out of memory: false.
    bool start(std::uint64_t ring_bytes) noexcept;
    bool full() const noexcept { return count_ == kMaxParts; }
    std::size_t parts() const noexcept { return count_; }
    // Whether the part that began at `began` and has `bytes` is to end.
    static bool ends(const SlowSteps& steps, std::int64_t began, std::uint64_t bytes, std::int64_t now) noexcept;

    struct Part {
        std::int64_t name;      // the time in its file's name
        std::int64_t from, to;  // CLOCK_MONOTONIC: when it was written
        std::uint64_t bytes;
    };
    void add(const Part& part) noexcept;
    // Deletes the parts in `folder` that nothing needs. `since` is the time from which on everything is needed.
    void discard(const char* folder, SlowSteps& steps, std::int64_t since) noexcept;

private:
    Part* parts_ = nullptr;
    std::size_t count_ = 0;
    std::uint64_t ring_bytes_ = kRingBytes;
};

}  // namespace gpuprof::inject
