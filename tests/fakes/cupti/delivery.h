// Records on their way to a client: a channel each, with lanes, each with the buffer it fills, and the client's two functions. A lane stands
// for what CUPTI keeps per thread. A record goes whole into one buffer; a buffer that is full, or flushed, goes back.
// Buffers are checked as CUPTI would need them (8-byte alignment, zeroed when the client promised so); a breach is a line on
// stderr and counted by fake_cupti_breaches().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <vector>

namespace fake_cupti {

using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records);
using CompleteBuffer = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                std::size_t valid);

// Of V2: without context and stream, with a structure about the buffer.
struct AboutRequest {  // CUpti_BufferCallbackRequestInfo
    std::size_t bytes;
};
struct AboutComplete {  // CUpti_BufferCallbackCompleteInfo
    std::size_t bytes;
    std::uint64_t thread;
    void** layouts;
    std::size_t layout_count;
};
using RequestBufferV2 = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records, AboutRequest*);
using CompleteBufferV2 = void (*)(std::uint8_t* buffer, std::size_t size, std::size_t valid, AboutComplete*);

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

// To one client.
struct Channel {
    std::list<Lane> lanes;
    std::atomic<RequestBuffer> request{nullptr};
    std::atomic<CompleteBuffer> complete{nullptr};
    std::atomic<RequestBufferV2> request_v2{nullptr};
    std::atomic<CompleteBufferV2> complete_v2{nullptr};
    std::atomic<bool> promised_zeroed{false}, torn_down{false};
    std::atomic<std::size_t> dropped{0};

    bool has_client() const { return complete.load() != nullptr || complete_v2.load() != nullptr; }
};

// A lane not in use; it may hold records of an earlier one.
Lane& take_lane(Channel& channel);
void leave_lane(Lane& lane);

// Whether clients may have no buffer to give: CUPTI crashes then in versions before 27 (CUDA 12.9).
void allow_none(bool allowed);
// Copies a record; counts it as dropped when the client gives no room.
void deliver(Channel& channel, Lane& lane, const unsigned char* record, std::uint32_t bytes, bool running = false);
// Completes what is there; unforced it leaves buffers with kernels that are not finished.
void flush_lanes(Channel& channel, bool forced);
// A kind is switched off: with the rule `causal`, its work in flight is lost.
void forget_in_flight(Channel& channel, std::uint32_t kind);
// Forgets the client and what was not handed over.
void tear_down(Channel& channel);
// With the rule after_teardown: delivers the deferred buffer, once.
void complete_held_back();

std::size_t breaches();
std::uint32_t bytes_of_kind(std::uint32_t kind);  // 0: none was delivered
void count_breach(const char* what);

// Gives a record of overhead its data; see client_memory.cc.
void add_overhead_data(unsigned char* record, std::size_t bytes);
// A name of a function, the same each time, which the client frees in the end. A breach if it did already.
char* sampled_name(const std::string& function);

}  // namespace fake_cupti
