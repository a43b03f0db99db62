#include "tests/fakes/cupti/delivery.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <list>
#include <random>
#include <thread>

#include "tests/fakes/cupti/client.h"
#include "tests/fakes/cupti/faults.h"
#include "tests/fakes/cupti/script.h"

namespace fake_cupti {
namespace {

// Never destroyed: clients and threads may come while the process ends.
struct State {
    std::mutex lock;  // of the lists, never held while the client runs
    std::list<Lane> lanes;
    Buffer held_back;
    CompleteBuffer held_back_for = nullptr;
    std::atomic<RequestBuffer> request{nullptr};
    std::atomic<CompleteBuffer> complete{nullptr};
    std::atomic<bool> promised_zeroed{false}, none_allowed{true}, torn_down{false};
    std::atomic<std::size_t> dropped{0}, breaches{0};
    std::array<std::atomic<std::uint32_t>, 64> bytes_of_kind{};
    std::mt19937 random{faults().seed};
};
State& state() {
    static State& made = *new State;
    return made;
}

bool request_buffer(Buffer& buffer) {
    RequestBuffer request = state().request.load();
    buffer = Buffer{};
    if (request == nullptr) return false;
    InClient within(InClient::kBufferFunction);
    request(&buffer.bytes, &buffer.size, &buffer.max_records);
    if (buffer.bytes == nullptr || buffer.size == 0) {
        if (!state().none_allowed) count_breach("no buffer, which this version does not survive");
        buffer = Buffer{};
        return false;
    }
    if (reinterpret_cast<std::uintptr_t>(buffer.bytes) % 8 != 0) count_breach("a buffer is not aligned to 8 bytes");
    if (!state().promised_zeroed.load())
        std::memset(buffer.bytes, 0, buffer.size);
    else if (std::any_of(buffer.bytes, buffer.bytes + buffer.size, [](std::uint8_t byte) { return byte != 0; }))
        count_breach("a buffer is not zeroed, as attribute 5 promised");
    return true;
}

bool fits(const Buffer& buffer, std::uint32_t bytes) {
    return buffer.used + bytes <= buffer.size && (buffer.max_records == 0 || buffer.places.size() < buffer.max_records);
}

void shuffle_records(Buffer& buffer) {
    std::vector<std::vector<std::uint8_t>> records;
    for (std::size_t i = 0; i < buffer.places.size(); ++i) {
        std::size_t next = i + 1 < buffer.places.size() ? buffer.places[i + 1] : buffer.used;
        records.emplace_back(buffer.bytes + buffer.places[i], buffer.bytes + next);
    }
    {
        std::lock_guard<std::mutex> held(state().lock);
        std::shuffle(records.begin(), records.end(), state().random);
    }
    std::uint8_t* at = buffer.bytes;
    for (const auto& record : records) at = std::copy(record.begin(), record.end(), at);
}

bool hold_back(const Buffer& buffer, CompleteBuffer complete) {
    if (!faults().after_teardown) return false;
    std::lock_guard<std::mutex> held(state().lock);
    if (state().held_back.bytes != nullptr || state().torn_down) return false;
    state().held_back = buffer;
    state().held_back_for = complete;
    return true;
}

void complete_buffer(Buffer buffer) {
    CompleteBuffer complete = state().complete.load();
    if (complete == nullptr) return;
    if (faults().keep > 0 && faults().keep.fetch_sub(1) > 0) return;
    if (hold_back(buffer, complete)) return;
    if (faults().shuffle) shuffle_records(buffer);
    auto hand_over = [complete, bytes = buffer.bytes, size = buffer.size, used = buffer.used] {
        InClient within(InClient::kBufferFunction);
        complete(nullptr, 0, bytes, size, used);
    };
    if (faults().late_ms == 0) return hand_over();
    std::thread([hand_over] {
        std::this_thread::sleep_for(std::chrono::milliseconds(faults().late_ms));
        hand_over();
    }).detach();
}

bool in_flight(const unsigned char* record, std::uint64_t now) {
    if (!faults().causal) return false;
    auto kind = read<std::uint32_t>(record, 0);
    return is_device_work(kind) && read<std::uint64_t>(record, fields_of(kind).end) > now;
}

bool any_in_flight(const Buffer& buffer) {
    std::uint64_t now = now_ns();
    return std::any_of(buffer.places.begin(), buffer.places.end(),
                       [&](std::uint32_t place) { return in_flight(buffer.bytes + place, now); });
}

// What has no end yet is handed over without one.
void cut_in_flight(Buffer& buffer) {
    std::uint64_t now = now_ns();
    for (std::uint32_t place : buffer.places) {
        unsigned char* record = buffer.bytes + place;
        if (!in_flight(record, now)) continue;
        auto kind = read<std::uint32_t>(record, 0);
        write(record, fields_of(kind).end, std::uint64_t{0});
        if (kind == kKernel) write(record, 32, std::uint64_t{0});  // completed
    }
}

Buffer detach(Lane& lane) {
    Buffer taken = std::move(lane.buffer);
    lane.buffer = Buffer{};
    return taken;
}

}  // namespace

Lane& take_lane() {
    std::lock_guard<std::mutex> held(state().lock);
    for (Lane& lane : state().lanes)
        if (!lane.taken) {
            lane.taken = true;
            return lane;
        }
    Lane& lane = state().lanes.emplace_back();
    lane.taken = true;
    return lane;
}

void leave_lane(Lane& lane) {
    std::lock_guard<std::mutex> held(state().lock);
    lane.taken = false;
}

void allow_none(bool allowed) { state().none_allowed = allowed; }
void promise_zeroed(bool promised) { state().promised_zeroed = promised; }

void set_client(RequestBuffer request, CompleteBuffer complete) {
    state().torn_down = false;
    state().complete = complete;
    state().request = request;
}

bool has_client() { return state().complete.load() != nullptr; }

void deliver(Lane& lane, const unsigned char* record, std::uint32_t bytes, bool running) {
    auto kind = read<std::uint32_t>(record, 0);
    if (kind < state().bytes_of_kind.size()) state().bytes_of_kind[kind].store(bytes, std::memory_order_relaxed);
    std::unique_lock<std::mutex> held(lane.lock);
    Buffer full;
    if (lane.buffer.bytes != nullptr && !fits(lane.buffer, bytes)) full = detach(lane);
    if ((lane.buffer.bytes != nullptr || request_buffer(lane.buffer)) && fits(lane.buffer, bytes)) {
        std::memcpy(lane.buffer.bytes + lane.buffer.used, record, bytes);
        lane.buffer.places.push_back(static_cast<std::uint32_t>(lane.buffer.used));
        lane.buffer.used += bytes;
        lane.buffer.running |= running;
    } else {
        state().dropped.fetch_add(1);
    }
    held.unlock();
    if (full.bytes != nullptr) complete_buffer(std::move(full));
}

void flush_lanes(bool forced) {
    std::vector<Lane*> lanes;
    {
        std::lock_guard<std::mutex> held(state().lock);
        for (Lane& lane : state().lanes) lanes.push_back(&lane);
        if (faults().shuffle) std::shuffle(lanes.begin(), lanes.end(), state().random);
    }
    for (Lane* lane : lanes) {
        Buffer taken;
        {
            std::lock_guard<std::mutex> held(lane->lock);
            bool whole = !lane->buffer.running && !any_in_flight(lane->buffer);
            if (lane->buffer.used > 0 && (forced || whole)) taken = detach(*lane);
            cut_in_flight(taken);
        }
        if (taken.bytes != nullptr) complete_buffer(std::move(taken));
    }
}

void forget_in_flight(std::uint32_t kind) {
    if (!faults().causal) return;
    std::uint64_t now = now_ns();
    std::lock_guard<std::mutex> held(state().lock);
    for (Lane& lane : state().lanes) {
        std::lock_guard<std::mutex> of_lane(lane.lock);
        Buffer& buffer = lane.buffer;
        Buffer kept = buffer;
        kept.places.clear();
        kept.used = 0;
        for (std::size_t i = 0; i < buffer.places.size(); ++i) {
            std::size_t end = i + 1 < buffer.places.size() ? buffer.places[i + 1] : buffer.used;
            std::uint8_t* record = buffer.bytes + buffer.places[i];
            std::size_t bytes = end - buffer.places[i];
            if (read<std::uint32_t>(record, 0) == kind && in_flight(record, now)) continue;
            std::memmove(buffer.bytes + kept.used, record, bytes);
            kept.places.push_back(static_cast<std::uint32_t>(kept.used));
            kept.used += bytes;
        }
        if (buffer.bytes != nullptr) std::memset(buffer.bytes + kept.used, 0, buffer.used - kept.used);
        buffer = kept;
    }
}

void tear_down() {
    state().torn_down = true;
    state().request = nullptr;
    state().complete = nullptr;
    std::lock_guard<std::mutex> held(state().lock);
    for (Lane& lane : state().lanes) {
        std::lock_guard<std::mutex> of_lane(lane.lock);
        lane.buffer = Buffer{};
    }
}

void complete_held_back() {
    Buffer buffer;
    {
        std::lock_guard<std::mutex> held(state().lock);
        state().torn_down = true;
        std::swap(buffer, state().held_back);
    }
    if (buffer.bytes != nullptr) state().held_back_for(nullptr, 0, buffer.bytes, buffer.size, buffer.used);
}

std::size_t take_dropped() { return state().dropped.exchange(0); }
std::size_t breaches() { return state().breaches.load(); }
std::uint32_t bytes_of_kind(std::uint32_t kind) {
    return kind < state().bytes_of_kind.size() ? state().bytes_of_kind[kind].load(std::memory_order_relaxed) : 0;
}
void count_breach(const char* what) {
    state().breaches.fetch_add(1);
    std::fprintf(stderr, "fake libcupti: the client breaks a rule: %s\n", what);
}

}  // namespace fake_cupti
