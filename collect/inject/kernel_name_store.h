// Copies of kernel names. A record points to the name in the program's module, which may be unloaded soon after CUPTI has
// returned the record, while the spool thread looks only every 10 ms. So names are copied as buffers return, on CUPTI's
// thread, and the records then point to the copies. Each text is kept once and never freed.
// A name that is longer than kMaxBytes, or for which there is no room, is left where it is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collect/inject/cupti/cupti_api.h"
#include "collect/inject/spool/arena.h"

namespace gpuprof::inject {

class KernelNames {
public:
    static constexpr std::size_t kMaxBytes = std::size_t{32} << 10, kTexts = 1 << 14, kProbes = 8;

    // In all kernel records of a buffer. Any thread; lock-free.
    void keep(const Cupti& cupti, std::uint8_t* bytes, std::size_t valid) noexcept;

private:
    struct Text {
        std::uint64_t hash;
        std::size_t size;
        const char* characters() const noexcept { return reinterpret_cast<const char*>(this + 1); }
    };
    // The copy, or the text itself.
    const char* kept(const char* text) noexcept;
    const Text* find_or_add(const char* text, std::size_t size) noexcept;

    Arena arena_;
    std::atomic<const Text*> texts_[kTexts] = {};       // by hash of the text
    std::atomic<const Text*> by_address_[kTexts] = {};  // the last text seen at an address: most names are known
};

KernelNames& kernel_names() noexcept;

}  // namespace gpuprof::inject
