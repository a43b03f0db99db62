// Our use of CUPTI's activity records: the kinds we want, switched with the window, and the spool thread's work on
// returned buffers. Buffers are written unchanged, together with what is only known inside the process: the names that
// records point to, and the record length of each kind.
#pragma once

#include <atomic>
#include <cstdint>

#include "collect/inject/callbacks.h"
#include "collect/inject/cupti/cupti_api.h"
#include "collect/inject/record_cost.h"
#include "collect/inject/settings.h"
#include "collect/inject/spool/scratch.h"
#include "collect/inject/spool/spool_file.h"
#include "core/format/cupti_records.h"

namespace gpuprof::inject {

class Activity {
public:
    // Loads CUPTI and subscribes. Call within cuInit; nothing is switched on yet.
    bool start() noexcept;
    bool running() const noexcept { return running_.load(std::memory_order_acquire); }
    // For a window that opens later. Within cuInit: CUPTI makes code for each module that is loaded before kernels are first
    // switched on.
    void prepare() noexcept;
    // Switches our kinds on or off. Call on the spool thread, or before that on the thread that starts CUPTI, or
    // to switch on, within a callback (ActivitySwitch).
    void open() noexcept;
    void close() noexcept;
    // Switches off permanently and gives CUPTI to another client. Spool thread only.
    void yield() noexcept;
    // Asks CUPTI for complete records, or with `forced` for all. May block in CUPTI.
    void flush(bool forced) noexcept;
    // Writes returned buffers in order of return, until all are written or CLOCK_MONOTONIC reaches `until`: the program
    // may fill them faster than they are written. Spool thread only.
    void drain(SpoolFile& file, std::int64_t until) noexcept;
    bool delivered() const noexcept { return delivered_; }
    // Asks for the records of the devices once more: they come only once by themselves, when the driver is started.
    void dump_devices() noexcept;
    // Once, after the first records. Spool thread only.
    void measure_record_cost() noexcept;
    // Writes the names of the API functions; returns whether that worked.
    bool write_function_names(SpoolFile& file) noexcept;
    // A new file begins: names must be written again.
    void forget_names() noexcept;
    std::uint64_t timestamp() const noexcept;
    // Records dropped so far because CUPTI had no buffer. Spool thread only.
    std::uint64_t dropped() noexcept;
    std::uint32_t version() const noexcept { return version_; }
    Callbacks& callbacks() noexcept { return callbacks_; }
    const RecordCost& record_cost() const noexcept { return record_cost_; }
    // What start() and open() could not do, in words; "" if everything worked.
    const char* refusal() const noexcept {
        return refusal_state_.load(std::memory_order_acquire) == kWritten ? refusal_ : "";
    }

private:
    bool switch_on(cupti::Kind kind, const char* what) noexcept;
    void find_functions() noexcept;
    void refuse(const char* what, int code) noexcept;
    void refuse_for_holder() noexcept;
    void write_buffer(SpoolFile& file, std::uint8_t* bytes, std::size_t valid) noexcept;
    void note_name(std::uint64_t address) noexcept;

    const Cupti* cupti_ = nullptr;
    std::atomic<bool> running_{false};
    std::uint32_t version_ = 0;
    std::uint64_t dropped_ = 0;
    enum RefusalState : int { kNone, kWriting, kWritten };
    std::atomic<int> refusal_state_{kNone};
    char refusal_[512] = {};
    // Ids of the wanted functions, looked up once: asking CUPTI for 4,094 names takes long, on some versions very long.
    struct Function {
        std::uint32_t domain, cbid;
    };
    static constexpr std::size_t kMaxWanted = 512;
    Function wanted_[kMaxWanted] = {};
    std::size_t wanted_count_ = 0;
    Callbacks callbacks_;
    RecordCost record_cost_;
    bool delivered_ = false;  // records have arrived
    Scratch function_names_;
    Scratch names_, head_;
    // Addresses whose names were written, with a hash of the name: an address may be reused after its module is
    // unloaded.
    struct KnownName {
        std::uint64_t address = 0, hash = 0;
    };
    static constexpr std::size_t kNameSlots = 1 << 16;
    KnownName* known_ = nullptr;
};

}  // namespace gpuprof::inject
