// What a record of a call costs the thread that calls, measured once per recording, on the spool thread: calls of
// cuDriverGetVersion, which touches neither the device nor a context, before and after CUPTI records that function.
// 578 calls, and none begins after 5 ms. The reader drops their records, which it knows by their thread.
#pragma once

#include <cstdint>

#include "collect/inject/cupti/cupti_api.h"

namespace gpuprof::inject {

// Per call, in ns: the quartiles and the median over batches of calls.
struct RecordCostNs {
    std::int64_t low = 0, central = 0, high = 0;
};

class RecordCost {
public:
    static constexpr int kBatches = 9, kCalls = 32;  // calls per batch

    // The callback id of the function, from its name.
    void add_function(std::uint32_t domain, std::uint32_t cbid, const char* name) noexcept;
    // Once device work was recorded. Later calls return at once.
    void measure() noexcept;
    // Null: not measured.
    const RecordCostNs* result() const noexcept { return known_ ? &result_ : nullptr; }
    // Why not; "" if measured, or not tried yet.
    const char* refusal() const noexcept { return refusal_; }

private:
    const char* try_to_measure() noexcept;

    std::uint32_t cbid_ = 0;
    bool tried_ = false, known_ = false;
    const char* refusal_ = "";
    RecordCostNs result_;
};

}  // namespace gpuprof::inject
