#include "collect/inject/steps/step_watch.h"

#include <new>

#include "collect/inject/settings.h"
#include "core/base/clock.h"

namespace gpuprof::inject {

Moment Moment::now() noexcept { return {realtime_ns(), monotonic_ns()}; }

void StepWatch::start() noexcept {
    if (settings().keep_slow <= 0 && !settings().aggregate) return;
    void* memory = std::malloc(kCells * sizeof(Cell));
    if (memory == nullptr) return;
    cells_ = static_cast<Cell*>(memory);
    for (std::uint64_t i = 0; i < kCells; ++i) new (&cells_[i]) Cell{{i}, {}};
}

// Lock-free for any number of threads: a cell is free for the event whose number its `turn` is.
void StepWatch::put(const StepEvent& event) noexcept {
    std::uint64_t number = given_.load(std::memory_order_relaxed);
    for (;;) {
        Cell& cell = cells_[number % kCells];
        std::uint64_t turn = cell.turn.load(std::memory_order_acquire);
        if (turn == number) {
            if (!given_.compare_exchange_weak(number, number + 1, std::memory_order_relaxed)) continue;
            cell.event = event;
            cell.turn.store(number + 1, std::memory_order_release);
            return;
        }
        if (turn < number) {  // still has the event of the last round
            bool ends = event.kind == StepEvent::ended || event.kind == StepEvent::abandoned;
            missed_.fetch_add(ends, std::memory_order_relaxed);
            return;
        }
        number = given_.load(std::memory_order_relaxed);
    }
}

// A start/end range may have ended on another thread.
bool StepWatch::is_open(OpenStep& open) noexcept {
    if (open.begin.steady == 0 || open.range == 0) return open.begin.steady != 0;
    for (Range& range : ranges_)
        if (range.id.load(std::memory_order_relaxed) == open.range) return true;
    open.close();
    return false;
}

void StepWatch::begin(OpenStep& open, std::uint32_t thread, StepEvent::Kind kind) noexcept {
    open.begin = Moment::now();
    put({thread, kind, ++open.number, open.begin, {}});
}

void StepWatch::end(OpenStep& open, std::uint32_t thread, bool recorded) noexcept {
    put({thread, recorded ? StepEvent::ended : StepEvent::abandoned, open.number, open.begin, Moment::now()});
    open.close();
}

void StepWatch::push(OpenStep& open, std::uint32_t thread, int depth) noexcept {
    if (is_open(open)) {
        nested_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    open.depth = depth;
    begin(open, thread, StepEvent::begun);
}

void StepWatch::mark(OpenStep& open, std::uint32_t thread) noexcept {
    if (is_open(open)) {
        if (!open.is_mark()) {
            nested_.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        end(open, thread, true);
    }
    begin(open, thread, StepEvent::begun_by_mark);
}

void StepWatch::begin_range(OpenStep& open, std::uint32_t thread, std::uint64_t id) noexcept {
    if (is_open(open)) {
        nested_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    for (Range& range : ranges_) {
        std::uint64_t free = 0;
        if (!range.id.compare_exchange_strong(free, Range::kBusy, std::memory_order_acquire)) continue;
        open.range = id;
        begin(open, thread, StepEvent::begun);
        range.thread = thread;
        range.number = open.number;
        range.begin = open.begin;
        range.id.store(id, std::memory_order_release);
        return;
    }
    missed_.fetch_add(1, std::memory_order_relaxed);
}

void StepWatch::end_range(OpenStep& open, std::uint64_t id, bool recorded) noexcept {
    for (Range& range : ranges_) {
        if (id == 0 || range.id.load(std::memory_order_acquire) != id) continue;
        StepEvent event{range.thread, recorded ? StepEvent::ended : StepEvent::abandoned, range.number, range.begin,
                        Moment::now()};
        if (!range.id.compare_exchange_strong(id, 0, std::memory_order_release)) return;  // another thread ended it too
        put(event);
        if (open.range == id) open.close();
        return;
    }
}

}  // namespace gpuprof::inject
