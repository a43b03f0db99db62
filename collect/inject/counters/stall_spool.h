// The spool file of warp samples, or of counters of instructions, of this process (core/format/spool.h): cubins are written within the callback that
// announces them, because their bytes are valid only there, by the program's threads. Any thread.
//
// A cubin is written once, by its hash, and at most kMaxCubinBytes of all of them; one that does not fit is named, so
// that its samples are known to lack lines.
#pragma once

#include <cstdint>
#include <string_view>

#include "collect/inject/cupti/cupti_api.h"
#include "collect/inject/spool/shared_spool.h"
#include "core/format/spool.h"

namespace gpuprof::inject {

class StallSpool : public SharedSpool {
public:
    // `module`: what the callback got (CUpti_ModuleResourceData); may be null.
    void write_module(const Cupti& cupti, const void* module) noexcept;
    void write_reasons(std::string_view reasons) noexcept;
    void write_read(std::string_view payload) noexcept;
    void write_counts(std::string_view payload) noexcept;
    void write_failure(const char* function, int code, std::uint32_t device) noexcept;
    void write_refusal(std::string_view sentence) noexcept;

private:
    static constexpr std::size_t kMaxCubins = 8192;
    static constexpr std::uint64_t kMaxCubinBytes = std::uint64_t{256} << 20;
    bool take(std::uint64_t hash) noexcept;
    void write_new_cubin(const spool::CubinKey& key, std::string_view cubin) noexcept;

    std::uint64_t known_[kMaxCubins] = {};
    std::size_t known_count_ = 0;
    std::uint64_t cubin_bytes_ = 0;
    bool reasons_written_ = false;
};

}  // namespace gpuprof::inject
