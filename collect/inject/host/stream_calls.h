// Calls that order streams: cudaEventRecord, cudaStreamWaitEvent, calls that wait for an event or a stream, and their
// counterparts of the driver. CUPTI's records of calls have neither stream nor event, and its records of
// synchronisation cost much more (decision 0027). A callback reads both from the arguments, on the calling thread, and
// appends one struct StreamCall to the thread's ring.
// Source: generated_cuda_runtime_api_meta.h and generated_cuda_meta.h of CUPTI 11.8 to 13.5.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collect/inject/cupti/cupti_api.h"
#include "core/format/spool.h"

namespace gpuprof::inject {

// What to read from the arguments of one function.
struct StreamFunction {
    static constexpr std::uint8_t kAbsent = 0xff;

    spool::StreamCallKind kind{};
    std::uint8_t stream = kAbsent, event = kAbsent;  // which argument; all are pointers until there
    bool per_thread = false;                         // stream 0 is the thread's own
};

// Whether the function of this name, as CUPTI spells it, orders streams.
bool find_stream_function(const char* name, StreamFunction& function) noexcept;

// At the entry and the exit of the call. `opening` numbers the times that callbacks were switched on.
void enter_stream_call(const CallbackData& call, std::uint32_t domain, std::uint32_t opening) noexcept;
void leave_stream_call(const Cupti& cupti, const StreamFunction& function, const CallbackData& call,
                       std::uint32_t domain, std::uint32_t opening) noexcept;

}  // namespace gpuprof::inject
