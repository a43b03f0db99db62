// Records on their way to the client: lanes, each with the buffer it fills, and the client's two functions. A lane stands
// for what CUPTI keeps per thread. A record goes whole into one buffer; a buffer that is full, or flushed, goes back.
// Buffers are checked as CUPTI would need them (8-byte alignment, zeroed when the client promised so); a breach is a line on
// stderr and counted by fake_cupti_breaches().
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace fake_cupti {

using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records);
using CompleteBuffer = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                std::size_t valid);

// A buffer of the client with the places of its records.
struct Buffer {
    std::uint8_t* bytes = nullptr;
    std::size_t size = 0, used = 0, max_records = 0;
    std::vector<std::uint32_t> places;
    bool running = false;  // holds a kernel that is not finished
};

struct Lane {
    std::mutex lock;
    Buffer buffer;
    bool taken = false;
};

// A lane that nobody plays on; it may hold records of an earlier one.
Lane& take_lane();
void leave_lane(Lane& lane);

void set_client(RequestBuffer request, CompleteBuffer complete);
// Whether clients may have no buffer to give: CUPTI crashes then in versions before 27 (CUDA 12.9).
void allow_none(bool allowed);
void promise_zeroed(bool promised);
bool has_client();
// Copies a record; counts it as dropped when the client gives no room.
void deliver(Lane& lane, const unsigned char* record, std::uint32_t bytes, bool running = false);
// Completes what is there; unforced it leaves buffers with kernels that are not finished.
void flush_lanes(bool forced);
// A kind is switched off: with the rule `causal`, its work in flight is lost.
void forget_in_flight(std::uint32_t kind);
// Forgets the client and what was not handed over.
void tear_down();
// With the rule after_teardown: delivers the deferred buffer, once.
void complete_held_back();

std::size_t take_dropped();
std::size_t breaches();
std::uint32_t bytes_of_kind(std::uint32_t kind);  // 0: none was delivered
void count_breach(const char* what);

}  // namespace fake_cupti
