#include "collect/inject/spool/chunks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string_view>

#include "collect/inject/cupti/cupti_multiplexer.h"
#include "collect/inject/cupti/other_client.h"
#include "collect/inject/host/event_ring.h"
#include "collect/inject/host/graph_events.h"
#include "collect/inject/host/launch_stacks.h"
#include "collect/inject/overhead_timer.h"
#include "collect/inject/spool/buffers.h"
#include "collect/inject/spool/name_log.h"
#include "core/base/clock.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inject {

void write_events(Collector& c) noexcept {
    for (EventRing* ring = EventRing::first(); ring != nullptr; ring = ring->next()) {
        c.events.clear();
        c.events.add(static_cast<std::uint32_t>(ring->thread()));
        ring->drain([&](const char* bytes, std::size_t size) { c.refused_memory += !c.events.add(bytes, size); });
        if (c.events.size() > sizeof(std::uint32_t)) c.file.write(ChunkKind::spool_nvtx, c.events.view());
    }
}

void write_clock(Collector& c) noexcept {
    struct Reading {
        std::int64_t realtime, monotonic;
        std::uint64_t cupti;
    } reading{};
    // Again if the thread lost its CPU in between: a single reading may decide how the clocks are related.
    constexpr int kMostReadings = 5;
    constexpr std::int64_t kAtOnce = 50'000;
    std::int64_t shortest = INT64_MAX;
    for (int i = 0; i < kMostReadings && shortest > kAtOnce; ++i) {
        Reading next{realtime_ns(), monotonic_ns(),
                     c.cuda_started.load(std::memory_order_acquire) ? c.activity.timestamp() : 0};
        std::int64_t took = monotonic_ns() - next.monotonic;
        if (took >= shortest) continue;
        shortest = took;
        reading = next;
    }
    c.file.write(ChunkKind::spool_clock, {reinterpret_cast<const char*>(&reading), sizeof reading});
}

namespace {

using LossCounts = std::array<std::uint64_t, 8>;  // by spool::Lost

LossCounts losses_so_far(Collector& c, bool at_end) noexcept {
    std::uint64_t full = EventRing::dropped_without_ring(), cut = 0;
    for (EventRing* ring = EventRing::first(); ring != nullptr; ring = ring->next()) {
        full += ring->dropped();
        cut += ring->cut();
    }
    bool cuda = c.cuda_started.load(std::memory_order_acquire);
    return {cuda ? c.activity.dropped() : 0,
            full,
            cut,
            c.file.unwritten() + c.refused_memory,
            at_end ? buffers().outstanding() : 0,
            c.kinds.late(),
            launches_without_stack(),
            lost_graph_events()};
}

}  // namespace

void write_losses(Collector& c, bool at_end) noexcept {
    LossCounts lost = losses_so_far(c, at_end);
    std::uint64_t sum = std::accumulate(lost.begin(), lost.end(), std::uint64_t{0});
    if (sum == c.counted) return;
    c.counted = sum;
    c.counts.clear();
    for (std::size_t i = 0; i < lost.size(); ++i) {
        c.counts.add(static_cast<spool::Lost>(i));
        c.counts.add(lost[i] - c.lost_before[i]);
    }
    c.file.write(ChunkKind::spool_lost, c.counts.view());
}

void forget_past(Collector& c) noexcept {
    c.on_program_before = collector_overhead_ns.load(std::memory_order_relaxed);
    c.on_own_before = static_cast<std::uint64_t>(clock_ns(CLOCK_THREAD_CPUTIME_ID));
    LossCounts lost = losses_so_far(c, false);
    std::copy(lost.begin(), lost.end(), c.lost_before);
}

// Facts for the trust line: who used CUPTI, and the cost of recording.
void write_facts(Collector& c) noexcept {
    c.facts.clear();
    auto text = [&](std::string_view key, std::string_view value) { c.facts.add_entry(key, value); };
    auto number = [&](std::string_view key, std::uint64_t value) {
        char digits[24];
        int size = std::snprintf(digits, sizeof digits, "%llu", static_cast<unsigned long long>(value));
        text(key, {digits, static_cast<std::size_t>(size)});
    };
    if (c.cuda_started.load(std::memory_order_acquire) && cupti_multiplexer().cupti() != nullptr) {
        text("cupti_path", cupti_multiplexer().cupti()->path);
        number("cupti_version", c.activity.version());
        text("cupti_policy", words_of(settings().cupti)[static_cast<std::size_t>(settings().cupti)]);
        if (*c.activity.callbacks().state() != '\0') text(meta_key::kStreamCalls, c.activity.callbacks().state());
        if (settings().launch_stacks) {
            text(meta_key::kLaunchStacks, c.activity.callbacks().state());
            if (*python_refusal() != '\0') text(meta_key::kNoPythonFrames, python_refusal());
        }
        text(meta_key::kCuptiInterface, cupti_multiplexer().separate() ? "V2" : "V1");
        if (std::uint32_t given = cupti_v2().given()) number(meta_key::kOtherSubscriptions, given);
        if (cupti_multiplexer().separate() && *cupti_v2().holder() != '\0')
            text(meta_key::kFirstSubscriber, cupti_v2().holder());
        if (c.activity.callbacks().kept_out() != nullptr) text(meta_key::kKeptOut, c.activity.callbacks().kept_out());
        if (c.yielded.load(std::memory_order_relaxed)) text(meta_key::kYielded, "1");
        if (std::uint64_t given = other_client().copied()) number(meta_key::kGivenToOther, given);
        if (std::uint64_t refused = other_client().refused()) number("records_other_client_had_no_room_for", refused);
    }
    if (const RecordCostNs* cost = c.activity.record_cost().result()) {
        number(meta_key::kCallRecordLowNs, cost->low > 0 ? static_cast<std::uint64_t>(cost->low) : 0);
        number(meta_key::kCallRecordNs, static_cast<std::uint64_t>(cost->central));
        number(meta_key::kCallRecordHighNs, static_cast<std::uint64_t>(cost->high));
    } else if (*c.activity.record_cost().refusal() != '\0') {
        text(meta_key::kCallRecordUnknown, c.activity.record_cost().refusal());
    }
    number(meta_key::kRecorderThread, static_cast<std::uint64_t>(c.thread.load(std::memory_order_relaxed)));
    number(meta_key::kOnProgramThreads, collector_overhead_ns.load(std::memory_order_relaxed) - c.on_program_before);
    number(meta_key::kOnOwnThread, static_cast<std::uint64_t>(clock_ns(CLOCK_THREAD_CPUTIME_ID)) - c.on_own_before);
    if (c.window.closed_at() != 0 && !c.window.open())
        number(meta_key::kWindowClosedAt, static_cast<std::uint64_t>(c.window.closed_at()));
    if (const control::Report& trigger = c.standby.report(); trigger.number != 0) {
        number("trigger", static_cast<std::uint64_t>(trigger.number));
        number("trigger_open_ns", static_cast<std::uint64_t>(trigger.open));
        if (trigger.opened != 0) number("trigger_opened_ns", static_cast<std::uint64_t>(trigger.opened));
        if (trigger.last_step != 0) {
            number("trigger_first_step", static_cast<std::uint64_t>(trigger.first_step));
            number("trigger_last_step", static_cast<std::uint64_t>(trigger.last_step));
        }
    }
    if (std::int64_t refused = c.standby.report().refused; refused != 0)
        number("triggers_refused", static_cast<std::uint64_t>(refused));
    c.file.write(ChunkKind::spool_facts, c.facts.view());
}

// Names outlive the part and the process in which they were given.
void write_names_so_far(Collector& c) noexcept {
    c.events.clear();
    c.events.add(std::uint32_t{0});
    name_log().each([&](spool::HostEvent event, std::string_view text) {
        std::size_t padding = (8 - text.size() % 8) % 8;
        event.bytes = static_cast<std::uint32_t>(sizeof event + text.size() + padding);
        bool whole = c.events.add(&event, sizeof event) && c.events.add(text.data(), text.size()) &&
                     c.events.add("\0\0\0\0\0\0\0", padding);
        c.refused_memory += !whole;
    });
    if (c.events.size() > sizeof(std::uint32_t)) c.file.write(ChunkKind::spool_nvtx, c.events.view());
}

// With --keep-last a part may contain work from windows of the previous part, so nothing is omitted. With --keep-slow,
// the kept steps are the windows.
void write_windows(Collector& c) noexcept {
    if (c.window.always() || settings().keep_last_ns > 0 || c.keeper != nullptr) return;
    c.windows.clear();
    c.window.take_openings([&](const Window::Opening& opening) { c.refused_memory += !c.windows.add(opening); });
    if (c.windows.size() > 0) c.file.write(ChunkKind::spool_windows, c.windows.view());
}

}  // namespace gpuprof::inject
