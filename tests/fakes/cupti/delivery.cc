#include "tests/fakes/cupti/delivery.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <thread>

#include "tests/fakes/cupti/client.h"
#include "tests/fakes/cupti/cupti_script.h"
#include "tests/fakes/cupti/faults.h"

namespace fake_cupti {
namespace {

// How a buffer goes back.
struct Complete {
    CompleteBuffer v1 = nullptr;
    CompleteBufferV2 v2 = nullptr;
    explicit operator bool() const { return v1 != nullptr || v2 != nullptr; }
    void operator()(std::uint8_t* bytes, std::size_t size, std::size_t used) const {
        AboutComplete about{sizeof about, 0, nullptr, 0};
        if (v1 != nullptr)
            v1(nullptr, 0, bytes, size, used);
        else
            v2(bytes, size, used, &about);
    }
};

// Never destroyed: clients and threads may come while the process ends.
struct State {
    std::mutex lock;  // of the lists of lanes, never held while a client runs
    Buffer held_back;
    Complete held_back_for;
    std::atomic<bool> none_allowed{true};
    std::atomic<std::size_t> breaches{0};
    std::mutex giving;              // of `given`; taken within others
    std::set<std::uint8_t*> given;  // buffers that are the fake's until it completes them
    std::array<std::atomic<std::uint32_t>, 64> bytes_of_kind{};
    std::mt19937 random{faults().seed};
};
State& state() {
    static State& made = *new State;
    return made;
}

bool request_buffer(Channel& channel, Buffer& buffer) {
    RequestBuffer request = channel.request.load();
    RequestBufferV2 request_v2 = channel.request_v2.load();
    buffer = Buffer{};
    if (request == nullptr && request_v2 == nullptr) return false;
    InClient within(InClient::kBufferFunction);
    AboutRequest about{sizeof about};
    if (request != nullptr)
        request(&buffer.bytes, &buffer.size, &buffer.max_records);
    else
        request_v2(&buffer.bytes, &buffer.size, &buffer.max_records, &about);
    if (buffer.bytes == nullptr || buffer.size == 0) {
        if (!state().none_allowed) count_breach("no buffer, which this version does not survive");
        buffer = Buffer{};
        return false;
    }
    {
        std::lock_guard<std::mutex> held(state().giving);
        if (!state().given.insert(buffer.bytes).second) count_breach("a buffer is given while it is still in use");
    }
    if (reinterpret_cast<std::uintptr_t>(buffer.bytes) % 8 != 0) count_breach("a buffer is not aligned to 8 bytes");
    if (!channel.promised_zeroed.load())
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

bool hold_back(const Channel& channel, const Buffer& buffer, Complete complete) {
    if (!faults().after_teardown) return false;
    std::lock_guard<std::mutex> held(state().lock);
    if (state().held_back.bytes != nullptr || channel.torn_down) return false;
    state().held_back = buffer;
    state().held_back_for = complete;
    return true;
}

void complete_buffer(Channel& channel, Buffer buffer) {
    Complete complete{channel.complete.load(), channel.complete_v2.load()};
    if (!complete) return;
    if (faults().keep > 0 && faults().keep.fetch_sub(1) > 0) return;
    if (hold_back(channel, buffer, complete)) return;
    if (faults().shuffle) shuffle_records(buffer);
    auto hand_over = [complete, bytes = buffer.bytes, size = buffer.size, used = buffer.used] {
        {
            std::lock_guard<std::mutex> held(state().giving);
            state().given.erase(bytes);
        }
        InClient within(InClient::kBufferFunction);
        complete(bytes, size, used);
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

Lane& take_lane(Channel& channel) {
    std::lock_guard<std::mutex> held(state().lock);
    for (Lane& lane : channel.lanes)
        if (!lane.taken) {
            lane.taken = true;
            return lane;
        }
    Lane& lane = channel.lanes.emplace_back();
    lane.taken = true;
    return lane;
}

void leave_lane(Lane& lane) {
    std::lock_guard<std::mutex> held(state().lock);
    lane.taken = false;
}

void allow_none(bool allowed) { state().none_allowed = allowed; }

void deliver(Channel& channel, Lane& lane, const unsigned char* record, std::uint32_t bytes, bool running) {
    auto kind = read<std::uint32_t>(record, 0);
    if (kind < state().bytes_of_kind.size()) state().bytes_of_kind[kind].store(bytes, std::memory_order_relaxed);
    std::unique_lock<std::mutex> held(lane.lock);
    Buffer full;
    if (lane.buffer.bytes != nullptr && !fits(lane.buffer, bytes)) full = detach(lane);
    if ((lane.buffer.bytes != nullptr || request_buffer(channel, lane.buffer)) && fits(lane.buffer, bytes)) {
        std::memcpy(lane.buffer.bytes + lane.buffer.used, record, bytes);
        if (kind == kOverhead) add_overhead_data(lane.buffer.bytes + lane.buffer.used, bytes);
        lane.buffer.places.push_back(static_cast<std::uint32_t>(lane.buffer.used));
        lane.buffer.used += bytes;
        lane.buffer.running |= running;
    } else {
        channel.dropped.fetch_add(1);
    }
    held.unlock();
    if (full.bytes != nullptr) complete_buffer(channel, std::move(full));
}

void flush_lanes(Channel& channel, bool forced) {
    std::vector<Lane*> lanes;
    {
        std::lock_guard<std::mutex> held(state().lock);
        for (Lane& lane : channel.lanes) lanes.push_back(&lane);
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
        if (taken.bytes != nullptr) complete_buffer(channel, std::move(taken));
    }
}

void forget_in_flight(Channel& channel, std::uint32_t kind) {
    if (!faults().causal) return;
    std::uint64_t now = now_ns();
    std::lock_guard<std::mutex> held(state().lock);
    for (Lane& lane : channel.lanes) {
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

void tear_down(Channel& channel) {
    channel.torn_down = true;
    channel.request = nullptr;
    channel.complete = nullptr;
    channel.request_v2 = nullptr;
    channel.complete_v2 = nullptr;
    std::lock_guard<std::mutex> held(state().lock);
    for (Lane& lane : channel.lanes) {
        std::lock_guard<std::mutex> of_lane(lane.lock);
        lane.buffer = Buffer{};
    }
}

void complete_held_back() {
    Buffer buffer;
    {
        std::lock_guard<std::mutex> held(state().lock);
        for (Client& each : clients()) each.channel.torn_down = true;
        std::swap(buffer, state().held_back);
    }
    if (buffer.bytes == nullptr) return;
    {
        std::lock_guard<std::mutex> held(state().giving);
        state().given.erase(buffer.bytes);
    }
    state().held_back_for(buffer.bytes, buffer.size, buffer.used);
}

std::size_t breaches() { return state().breaches.load(); }
std::uint32_t bytes_of_kind(std::uint32_t kind) {
    return kind < state().bytes_of_kind.size() ? state().bytes_of_kind[kind].load(std::memory_order_relaxed) : 0;
}
void count_breach(const char* what) {
    state().breaches.fetch_add(1);
    const char* log = std::getenv("GPUPROF_FAKE_BREACHES");
    if (int file = log != nullptr ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1; file >= 0) {
        dprintf(file, "%s\n", what);
        close(file);
    }
    std::fprintf(stderr, "fake libcupti: the client breaks a rule: %s\n", what);
}

}  // namespace fake_cupti
