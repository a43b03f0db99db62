// Sees the program's steps begin and end, for --keep-slow and --aggregate: on the program's threads, which read two clocks and append to
// a queue of fixed size; the spool thread takes events from it. Nothing here waits or allocates after start().
//
// A step is a range of the wanted name (annotation_name.h), from its beginning to its end, or the time from one mark of
// that name, or call of gpu_profile.step(), to the next one on the same thread. While a thread has a step open, what
// begins on it is part of that step: such ranges and marks are counted, and are no steps.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace gpuprof::inject {

// One moment by two clocks: times in files are CLOCK_REALTIME, durations CLOCK_MONOTONIC.
struct Moment {
    std::int64_t real = 0, steady = 0;
    static Moment now() noexcept;
};

// A thread's step in progress; used by that thread only. At most one of `depth` and `range` is set; neither: a mark.
struct OpenStep {
    std::uint64_t number = 0;  // in its thread, from 1; stays when the step ends
    Moment begin = {};         // steady 0: none
    int depth = -1;            // of the push that began it
    std::uint64_t range = 0;   // the start/end range that began it; it may have ended on another thread
    bool is_mark() const noexcept { return depth < 0 && range == 0; }
    void close() noexcept {
        begin = {};
        depth = -1;
        range = 0;
    }
};

struct StepEvent {
    enum Kind : std::uint32_t { begun, begun_by_mark, ended, abandoned };  // abandoned: it ended outside the recording
    std::uint32_t thread;
    Kind kind;
    std::uint64_t number;  // in its thread, from 1
    Moment begin, end;
};

class StepWatch {
public:
    StepWatch() = default;
    ~StepWatch() { std::free(cells_); }
    StepWatch(const StepWatch&) = delete;
    StepWatch& operator=(const StepWatch&) = delete;

    // If steps are to be kept or counted. Out of memory: wanted() stays false.
    void start() noexcept;
    bool wanted() const noexcept { return cells_ != nullptr; }

    // By the thread that owns `open`, for annotations of the wanted name. `recorded`: the window is open.
    void push(OpenStep& open, std::uint32_t thread, int depth) noexcept;
    void begin_range(OpenStep& open, std::uint32_t thread, std::uint64_t range) noexcept;
    void mark(OpenStep& open, std::uint32_t thread) noexcept;
    // For every pop and end.
    void pop(OpenStep& open, std::uint32_t thread, int depth, bool recorded) noexcept {
        if (open.begin.steady != 0 && open.depth == depth) end(open, thread, recorded);
    }
    void end_range(OpenStep& open, std::uint64_t range, bool recorded) noexcept;

    // Passes the events since the last call to take(event). Spool thread only.
    template <class Take>
    void take_events(Take&& take) noexcept {
        for (; wanted(); ++taken_) {
            Cell& cell = cells_[taken_ % kCells];
            if (cell.turn.load(std::memory_order_acquire) != taken_ + 1) return;
            take(cell.event);
            cell.turn.store(taken_ + kCells, std::memory_order_release);
        }
    }
    std::uint64_t nested() const noexcept { return nested_.load(std::memory_order_relaxed); }
    // Ends that found the queue full, and ranges beyond those that can be open at once.
    std::uint64_t missed() const noexcept { return missed_.load(std::memory_order_relaxed); }

private:
    static constexpr std::uint64_t kCells = 1024;
    static constexpr std::size_t kRanges = 16;
    struct Cell {
        std::atomic<std::uint64_t> turn;  // of the event that may be written here; plus 1: written
        StepEvent event;
    };
    struct Range {
        static constexpr std::uint64_t kBusy = ~std::uint64_t{0};
        std::atomic<std::uint64_t> id{0};  // written last; 0: free, kBusy: being written
        std::uint32_t thread = 0;
        std::uint64_t number = 0;
        Moment begin;
    };
    bool is_open(OpenStep& open) noexcept;
    void begin(OpenStep& open, std::uint32_t thread, StepEvent::Kind kind) noexcept;
    void end(OpenStep& open, std::uint32_t thread, bool recorded) noexcept;
    void put(const StepEvent& event) noexcept;

    Cell* cells_ = nullptr;
    std::atomic<std::uint64_t> given_{0};
    std::uint64_t taken_ = 0;
    Range ranges_[kRanges];
    std::atomic<std::uint64_t> nested_{0}, missed_{0};
};

}  // namespace gpuprof::inject
