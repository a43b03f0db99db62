#include "analyze/facts/idle/host_timeline.h"

#include <algorithm>
#include <initializer_list>

namespace gpuprof::inline facts {
namespace {

// Calls visit(kind, table) for the table of each kind.
template <class Visit>
void each_host_table(const Trace& trace, Visit&& visit) {
    visit(HostKind::range, trace.range());
    visit(HostKind::python_call, trace.tables().python_call);
    visit(HostKind::op, trace.op());
    visit(HostKind::api_call, trace.api_call());
    visit(HostKind::overhead, trace.tables().overhead);
}

bool before(const HostSpan& a, const HostSpan& b) {
    if (a.start != b.start) return a.start < b.start;
    if (a.end != b.end) return a.end > b.end;
    return a.kind < b.kind;
}

}  // namespace

void nest(PodVector<HostSpan>& spans) {
    std::uint32_t open = kNoSpan;
    for (std::uint32_t i = 0; i < spans.size(); ++i) {
        while (open != kNoSpan && spans[open].end <= spans[i].start) open = spans[open].parent;
        spans[i].parent = open;
        open = i;
    }
}

std::uint32_t HostThread::last_started(TimeNs time) const {
    auto after = [](TimeNs at, const HostSpan& span) { return at < span.start; };
    auto found = std::upper_bound(spans.begin(), spans.end(), time, after);
    return found == spans.begin() ? kNoSpan : static_cast<std::uint32_t>(found - spans.begin() - 1);
}

std::uint32_t HostThread::innermost_at(TimeNs time) const {
    // A span open at `time` was still open when any later span began, so it is an ancestor of the last one.
    std::uint32_t span = last_started(time);
    while (span != kNoSpan && spans[span].end <= time) span = spans[span].parent;
    return span;
}

HostTimeline::HostTimeline(const Trace& trace, HostKinds kinds)
    : trace_(trace), slot_by_string_(trace.strings().size(), kNoSpan) {
    const ThreadTable& threads = trace.tables().thread;
    for (Row row = 0; row < threads.rows; ++row) {
        StringId key = threads.key.value_or(row, kNoString);
        if (key == kNoString || slot_by_string_[index_of(key)] != kNoSpan) continue;
        slot_by_string_[index_of(key)] = static_cast<std::uint32_t>(keys_.size());
        keys_.push_back(key);
    }
    slot_of_none_ = static_cast<std::uint32_t>(keys_.size());
    keys_.push_back(kNoString);
    each_host_table(trace, [&](HostKind kind, const auto& table) {
        if (kinds.has(kind)) index(table, kind);
    });
    auto is_empty = [&](StringId key) {
        std::uint32_t slot = slot_of(key);
        return std::all_of(rows_.begin(), rows_.end(), [slot](const RowsByThread& rows) {
            return rows.begin.empty() || rows.begin[slot] == rows.begin[slot + 1];
        });
    };
    keys_.erase(std::remove_if(keys_.begin(), keys_.end(), is_empty), keys_.end());
}

std::uint32_t HostTimeline::slot_of(StringId thread) const {
    if (thread == kNoString) return slot_of_none_;
    return index_of(thread) < slot_by_string_.size() ? slot_by_string_[index_of(thread)] : kNoSpan;
}

template <class Table>
void HostTimeline::index(const Table& table, HostKind kind) {
    RowsByThread& to = rows_[static_cast<std::size_t>(kind)];
    auto slot = [&](Row row) {
        std::uint32_t known = slot_of(table.thread.value_or(row, kNoString));
        return known == kNoSpan ? slot_of_none_ : known;
    };
    to.begin.assign(slot_of_none_ + 2, 0);
    if (table.rows > 0 && table.thread.repeats(table.thread[0])) {
        std::uint32_t only = slot(0);
        for (std::size_t i = only + 1; i < to.begin.size(); ++i) to.begin[i] = static_cast<std::uint32_t>(table.rows);
        return;
    }
    for (Row row = 0; row < table.rows; ++row) ++to.begin[slot(row) + 1];
    for (std::size_t i = 1; i < to.begin.size(); ++i) to.begin[i] += to.begin[i - 1];
    std::vector<std::uint32_t> next(to.begin.begin(), to.begin.end() - 1);
    to.rows.resize(table.rows);
    for (Row row = 0; row < table.rows; ++row) to.rows[next[slot(row)]++] = row;
}

class HostTimeline::Merge {
public:
    Merge(const HostTimeline& timeline, StringId thread, HostKinds kinds) : trace_(timeline.trace_) {
        std::uint32_t slot = timeline.slot_of(thread);
        for (std::size_t i = 0; i < kHostKinds && slot != kNoSpan; ++i) {
            const RowsByThread& rows = timeline.rows_[i];
            if (!kinds.has(static_cast<HostKind>(i)) || rows.begin.empty()) continue;
            Head head{rows.rows.empty() ? nullptr : rows.rows.data(), rows.begin[slot], rows.begin[slot + 1], {}};
            head.span.kind = static_cast<HostKind>(i);
            left_ += static_cast<std::size_t>(head.end - head.next);
            if (head.next != head.end) {
                read(head);
                heads_[used_++] = head;
            }
        }
    }
    std::size_t left() const { return left_; }
    // The next span, if any.
    const HostSpan& front() const { return heads_[first_of()].span; }
    void pop() {
        std::size_t at = first_of();
        Head& head = heads_[at];
        --left_;
        if (++head.next != head.end) return read(head);
        for (--used_; at < used_; ++at) heads_[at] = heads_[at + 1];
    }

private:
    struct Head {
        const Row* rows;  // null: all of the table
        std::uint32_t next, end;
        HostSpan span;
    };
    void read(Head& head) const {
        each_host_table(trace_, [&](HostKind kind, const auto& table) {
            if (kind != head.span.kind) return;
            Row row = head.rows == nullptr ? head.next : head.rows[head.next];
            TimeNs start = table.start[row];
            head.span = {start, start + table.dur[row], table.name.value_or(row, kNoString), row, kNoSpan, kind};
        });
    }
    std::size_t first_of() const {
        std::size_t first = 0;
        for (std::size_t i = 1; i < used_; ++i)
            if (before(heads_[i].span, heads_[first].span)) first = i;
        return first;
    }
    const Trace& trace_;
    std::array<Head, kHostKinds> heads_;  // by kind, so that of equal spans the outer one comes first
    std::size_t used_ = 0, left_ = 0;
};

HostThread HostTimeline::spans(StringId thread, HostKinds kinds) const {
    HostThread result;
    result.key = thread;
    Merge merge(*this, thread, kinds);
    result.spans.reserve(merge.left());
    for (; merge.left() > 0; merge.pop()) result.spans.push_back(merge.front());
    nest(result.spans);
    return result;
}

void HostTimeline::each_piece(StringId thread, HostKinds kinds,
                              const std::function<void(const HostThread&)>& visit) const {
    constexpr std::size_t kPiece = 8192;
    HostThread piece;
    piece.key = thread;
    TimeNs open_until = INT64_MIN;
    for (Merge merge(*this, thread, kinds); merge.left() > 0; merge.pop()) {
        const HostSpan& next = merge.front();
        if (piece.spans.size() >= kPiece && next.start >= open_until) {
            nest(piece.spans);
            visit(piece);
            piece.spans.clear();
        }
        open_until = std::max(open_until, next.end);
        piece.spans.push_back(next);
    }
    nest(piece.spans);
    visit(piece);
}

void HostTimeline::each_innermost_at(StringId thread, const std::vector<TimeNs>& times,
                                     const std::function<void(const HostThread&, std::uint32_t)>& visit) const {
    auto next = times.begin();
    each_piece(thread, kAllHostKinds, [&](const HostThread& piece) {
        TimeNs end = INT64_MIN;  // what is later is of another piece
        for (const HostSpan& span : piece.spans) end = std::max(end, span.end);
        for (; next != times.end() && *next < end; ++next) visit(piece, piece.innermost_at(*next));
    });
    for (; next != times.end(); ++next) visit({}, kNoSpan);
}

}  // namespace gpuprof::facts
