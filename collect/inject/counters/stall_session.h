// CUPTI's PC sampling in one context: warps are sampled while kernels run as usual, from start() to stop(). Each step
// either works or says which function returned which code. Continuous mode with start and stop; a span ends with stop()
// and is read after it, which is the order that CUPTI documents. Order of calls: CUPTI's guide, "PC Sampling API".
// Not thread-safe.
#pragma once

#include <cstdint>

#include "collect/inject/cupti/cupti_api.h"
#include "collect/inject/cupti/cupti_failure.h"
#include "collect/inject/spool/scratch.h"
#include "core/format/spool.h"

namespace gpuprof::inject {

// Names of functions in samples, which are the client's to free when no record is read any more: records of samples and of
// kernels may share one string (cupti_pcsampling.h, functionName). Each is kept once.
class SampledNames {
public:
    void add(char* name) noexcept;
    void free_all() noexcept;

private:
    bool grow() noexcept;

    char** slots_ = nullptr;
    std::size_t room_ = 0, count_ = 0;
};

class StallSession {
public:
    using Failure = CuptiFailure;

    bool is_open() const noexcept { return open_; }
    bool running() const noexcept { return running_; }
    void* context() const noexcept { return context_; }
    std::uint32_t device() const noexcept { return device_; }

    // Enables and configures it: samples 2^period cycles apart. Within the callback that announces the context.
    Failure open(const Cupti& cupti, std::uint32_t version, void* context, std::uint32_t device,
                 std::uint32_t period) noexcept;
    Failure start(const Cupti& cupti) noexcept;
    Failure stop(const Cupti& cupti) noexcept;
    // After stop(), until more() is false: what CUPTI has, as the payload of a spool_stall_read.
    Failure read(const Cupti& cupti, Scratch& payload, SampledNames& names) noexcept;
    bool more() const noexcept { return more_; }
    // Disables it; the payload is what CUPTI had left, empty if nothing.
    Failure close(const Cupti& cupti, Scratch& payload, SampledNames& names) noexcept;
    // The context is gone; nothing is called.
    void forget() noexcept;

    // The payload of spool_stall_reasons, after open().
    std::string_view reasons() const noexcept { return reasons_.view(); }

private:
    Failure read_reasons(const Cupti& cupti) noexcept;
    bool make_room() noexcept;
    Failure configure(const Cupti& cupti) noexcept;
    void add_records(Scratch& payload, SampledNames& names, bool full) noexcept;
    void empty_data() noexcept;

    void* context_ = nullptr;
    std::uint32_t device_ = 0, period_ = 0, version_ = 0;
    bool open_ = false, running_ = false, more_ = false;
    std::uint64_t span_ = 0;
    std::size_t reason_count_ = 0;
    std::uint32_t* indices_ = nullptr;
    pcs::PcData* data_ = nullptr;
    char* records_ = nullptr;  // kRoom of the library's size
    pcs::StallCount* counts_ = nullptr;
    Scratch reasons_;
};

}  // namespace gpuprof::inject
