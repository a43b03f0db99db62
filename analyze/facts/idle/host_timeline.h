// What each host thread was doing: ranges, Python calls, operators, API calls and the profiler's own work of one
// thread, merged in time order and nested. HostTimeline only indexes rows by thread (4 bytes a row, one pass). The
// spans of a thread are built on request, for the requested kinds, in linear time, and belong to the caller.
// Nesting: a span's parent is the open span that began last before it. A child that outlasts its parent keeps its own
// end. Rows without a thread belong to the thread kNoString.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/pod_vector.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {

// In nesting order: of equal spans, the earlier kind encloses the later.
enum class HostKind : std::uint8_t { range, python_call, op, api_call, overhead };
inline constexpr std::size_t kHostKinds = 5;

// A set of kinds.
class HostKinds {
public:
    constexpr HostKinds(std::initializer_list<HostKind> kinds) {
        for (HostKind kind : kinds) bits_ |= 1u << static_cast<unsigned>(kind);
    }
    constexpr bool has(HostKind kind) const { return (bits_ >> static_cast<unsigned>(kind)) & 1u; }

private:
    unsigned bits_ = 0;
};
inline constexpr HostKinds kAllHostKinds{HostKind::range, HostKind::python_call, HostKind::op, HostKind::api_call,
                                         HostKind::overhead};

inline constexpr std::uint32_t kNoSpan = 0xFFFFFFFFu;

struct HostSpan {
    TimeNs start = 0;
    TimeNs end = 0;
    StringId name = kNoString;
    Row row = kNoRow;                // in the table of its kind
    std::uint32_t parent = kNoSpan;  // index in the same thread, always smaller than the span's own index
    HostKind kind = HostKind::range;
};

// Sets the parent of each of `spans`, which are in order.
void nest(PodVector<HostSpan>& spans);

struct HostThread {
    StringId key = kNoString;
    PodVector<HostSpan> spans;  // by start, then longest first, then kind, then row

    // The innermost span open at `time` (start <= time < end), or kNoSpan. Takes logarithmic time plus the depth.
    std::uint32_t innermost_at(TimeNs time) const;
    // Index of the last span with start <= time, or kNoSpan.
    std::uint32_t last_started(TimeNs time) const;
    // Calls visit(span, duration) for each part of `within`: the open span that began last, or kNoSpan.
    template <class Visit>
    void each_innermost(Interval within, Visit&& visit) const;
};

template <class Visit>
void HostThread::each_innermost(Interval within, Visit&& visit) const {
    std::uint32_t open = innermost_at(within.start);
    std::uint32_t next = last_started(within.start) + 1;  // kNoSpan + 1 is 0
    TimeNs now = within.start;
    auto spend_until = [&](TimeNs time) {
        if (time > now) visit(open, time - now);
        now = time > now ? time : now;
    };
    auto close_until = [&](TimeNs time) {
        for (; open != kNoSpan && spans[open].end <= time; open = spans[open].parent) spend_until(spans[open].end);
    };
    for (; next < spans.size() && spans[next].start < within.end; ++next) {
        close_until(spans[next].start);
        spend_until(spans[next].start);
        open = next;
    }
    close_until(within.end);
    spend_until(within.end);
}

class HostTimeline {
public:
    // `trace` must outlive the timeline.
    explicit HostTimeline(const Trace& trace, HostKinds kinds = kAllHostKinds);

    // Keys of the threads with spans, in order of their row in `thread`; kNoString comes last if it has spans.
    const std::vector<StringId>& threads() const { return keys_; }
    // The spans of one thread, only of the timeline's kinds. An unknown key has no spans.
    HostThread spans(StringId thread, HostKinds kinds = kAllHostKinds) const;
    // The same in chunks: calls visit(HostThread) for each. Chunks are cut where no span is open, at a few thousand
    // spans if possible, so that callers need not hold the spans of millions of calls.
    void each_piece(StringId thread, HostKinds kinds, const std::function<void(const HostThread&)>& visit) const;
    // Calls visit(chunk, span) for each of `times`, which ascend: the innermost span open then, or kNoSpan.
    void each_innermost_at(StringId thread, const std::vector<TimeNs>& times,
                           const std::function<void(const HostThread&, std::uint32_t)>& visit) const;

private:
    struct RowsByThread {
        std::vector<std::uint32_t> begin;  // by thread; size is threads + 1
        PodVector<Row> rows;
    };
    // Iterates over the spans of one thread in order.
    class Merge;
    template <class Table>
    void index(const Table& table, HostKind kind);
    std::uint32_t slot_of(StringId thread) const;

    const Trace& trace_;
    std::vector<StringId> keys_;
    std::vector<std::uint32_t> slot_by_string_;
    std::uint32_t slot_of_none_ = kNoSpan;
    std::array<RowsByThread, kHostKinds> rows_;
};

}  // namespace gpuprof::facts
