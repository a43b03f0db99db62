// The spool file of kernel counters of this process (core/format/spool.h). Apart from the collector's own, because notes
// must be on disk before the launch that they announce, so that the program's threads write them. Any thread.
#pragma once

#include <cstdint>

#include "collect/inject/cupti/cupti_failure.h"
#include "collect/inject/spool/scratch.h"
#include "collect/inject/spool/shared_spool.h"
#include "core/format/spool.h"

namespace gpuprof::inject {

class CounterSpool : public SharedSpool {
public:
    void write_note(const spool::CounterLaunch& launch, const char* name) noexcept;
    // `image`: empty if instructions were measured, whose counts are elsewhere.
    void write_image(std::uint64_t number, std::uint64_t took_ns, std::string_view image, std::uint32_t dropped,
                     const CuptiFailure& failure) noexcept;
    void write_hung(std::uint64_t number, std::uint64_t ns) noexcept;
    // Counts a launch that was not measured; written by write_skips().
    void skip(spool::CounterSkip reason, const char* name) noexcept;
    void write_skips() noexcept;
    void finish() noexcept;

private:
    static constexpr std::size_t kReasons = static_cast<std::size_t>(spool::CounterSkip::kinds);
    struct Skipped {
        std::uint64_t count = 0;
        char first[256] = {};
    };
    Scratch scratch_;
    Skipped skipped_[kReasons];
    bool skips_changed_ = false;
};

}  // namespace gpuprof::inject
