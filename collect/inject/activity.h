// CUPTI's activity records: buffers out, buffers back, and to the file. CUPTI asks for a buffer and returns it on whatever
// thread it likes, the program's included; both functions take one slot of a fixed pool and return. The spool thread walks
// returned buffers for the names they point to (valid only while their module is loaded) and writes them as they are.
// Buffers are never freed: CUPTI may write to one for as long as the process lives.
#pragma once

#include <cstdint>

#include "collect/inject/cupti_api.h"
#include "collect/inject/scratch.h"
#include "collect/inject/settings.h"
#include "collect/inject/spool_file.h"
#include "core/format/cupti_records.h"

namespace gpuprof::inject {

class Activity {
public:
    // Loads CUPTI and switches the kinds of records on; whether any are. To be called within cuInit.
    bool start(const Settings& settings) noexcept;
    bool running() const noexcept { return running_; }
    // Asks CUPTI for what is complete, or with `forced` for everything. May block in CUPTI.
    void flush(bool forced) noexcept;
    // Writes returned buffers, in the order they came back. Spool thread only.
    void drain(SpoolFile& file) noexcept;
    // Names of the API functions, once; whether they were written.
    bool write_function_names(SpoolFile& file) noexcept;
    std::uint64_t timestamp() const noexcept;
    // Records that CUPTI had no buffer for, so far. Spool thread only.
    std::uint64_t dropped() noexcept;
    // Buffers that CUPTI still has; after a forced flush they hold records that are lost.
    static std::uint64_t kept() noexcept;
    // What start() could not do, in words; "" when everything worked. Valid after start().
    const char* refusal() const noexcept { return refusal_; }
    const Cupti& cupti() const noexcept { return cupti_; }

private:
    void enable_functions(std::uint32_t domain, int (*enable)(std::uint32_t, std::uint8_t)) noexcept;
    void write_buffer(SpoolFile& file, std::uint8_t* bytes, std::size_t valid) noexcept;
    void note_name(std::uint64_t address) noexcept;

    Cupti cupti_;
    bool switch_on(cupti::Kind kind, const char* what) noexcept;
    void refuse(const char* what, int code) noexcept;

    bool running_ = false;
    std::uint64_t dropped_ = 0;
    char refusal_[512] = {};
    Scratch names_, head_;
    // Addresses whose names were written, and a hash of the text then: an address is used again after a module goes.
    struct Known {
        std::uint64_t address = 0, hash = 0;
    };
    static constexpr std::size_t kKnown = 1 << 16;
    Known* known_ = nullptr;
};

}  // namespace gpuprof::inject
