// Processes and their threads. Nested spans are on the row below the enclosing span.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/facts/idle/thread_states.h"
#include "present/view/scene.h"

namespace gpuprof::inline view {
namespace {

// The rows of a thread in some tables, which are sorted outer first.
using RowsByTable = std::array<PodVector<Row>, kSliceTables>;

// Those rows in order: outer first; of equal spans, the table in nesting order.
class SpansInOrder {
public:
    SpansInOrder(const Tables& tables, RowsByTable& rows) : tables_(tables), rows_(rows) {
        for (std::size_t table = 0; table < rows.size(); ++table)
            if (!rows[table].empty()) read(heads_.emplace_back(Head{static_cast<SliceTable>(table)}));
    }
    bool any() const { return !heads_.empty(); }
    const Slice& slice() const { return heads_[first_].slice; }
    SliceTable table() const { return heads_[first_].table; }
    void pop() {
        Head& head = heads_[first_];
        if (++head.next < rows_[static_cast<std::size_t>(head.table)].size()) return read(head);
        rows_[static_cast<std::size_t>(head.table)] = {};
        heads_.erase(heads_.begin() + static_cast<std::ptrdiff_t>(first_));
        find_first();
    }

private:
    struct Head {
        SliceTable table;
        std::size_t next = 0;
        Slice slice = {};
    };
    void read(Head& head) {
        const Row row = rows_[static_cast<std::size_t>(head.table)][head.next];
        each_slice_table(tables_, [&](SliceTable which, const auto& table) {
            if (which == head.table) head.slice = {table.start[row], table.dur[row], name_in(table, row), row};
        });
        find_first();
    }
    void find_first() {
        first_ = 0;
        for (std::size_t i = 1; i < heads_.size(); ++i) {
            const Slice &a = heads_[i].slice, &b = heads_[first_].slice;
            if (a.start != b.start ? a.start < b.start : a.dur > b.dur) first_ = i;
        }
    }
    const Tables& tables_;
    RowsByTable& rows_;
    std::vector<Head> heads_;
    std::size_t first_ = 0;
};

// Each span goes below all spans that are open at its start. Takes the rows.
TrackRows rows_of_nested(const Tables& tables, RowsByTable& rows) {
    struct Open {
        TimeNs end;
        std::uint32_t y;
    };
    std::vector<Open> open;
    TrackRows track;
    for (SpansInOrder spans(tables, rows); spans.any(); spans.pop()) {
        const Slice& slice = spans.slice();
        std::erase_if(open, [&](const Open& each) { return each.end <= slice.start; });
        std::uint32_t y = 0;
        for (const Open& each : open) y = std::max(y, each.y + 1);
        track.add(y, spans.table(), slice);
        open.push_back({slice.start + slice.dur, y});
    }
    return track;
}

class Threads {
public:
    Threads(const Facts& facts, const ProcessTracks& processes, Scene& scene)
        : trace_(facts.trace()),
          tables_(trace_.tables()),
          states_(facts.get<ThreadStates>()),
          processes_(processes),
          scene_(scene) {}

    void add() {
        each_slice_table(tables_, [this](SliceTable which, const auto& table) {
            if constexpr (requires { table.thread; }) gather(table, which);
        });
        for (const Known& thread : known_threads()) add_thread(thread);
    }

private:
    struct Known {
        std::int64_t pid, tid;
        StringId process, key, name;
    };

    template <class Table>
    void gather(const Table& table, SliceTable which) {
        std::map<StringId, RowsByTable>& into = which == SliceTable::python_call ? python_ : rows_;
        PodVector<Row>* last = nullptr;
        StringId of = kNoString;
        for (Row row = 0; row < table.rows; ++row) {
            StringId thread = table.thread.value_or(row, kNoString);
            if (last == nullptr || thread != of) last = &into[thread][static_cast<std::size_t>(which)];
            of = thread;
            last->push_back(row);
        }
    }

    bool has_events(StringId thread) const { return rows_.count(thread) > 0 || python_.count(thread) > 0; }

    // Whether the system says more of the thread than that it slept.
    bool was_active(StringId thread) const {
        auto states = states_.of_thread.find(thread);
        if (states == states_.of_thread.end()) return false;
        for (ThreadState state :
             {ThreadState::waits_for_cpu, ThreadState::system_call, ThreadState::runs, ThreadState::runs_partly})
            if (!states->second[static_cast<std::size_t>(state)].empty()) return true;
        return false;
    }

    // Threads with content; the main thread of a process first, the unknown thread last.
    std::vector<Known> known_threads() const {
        std::vector<Known> known;
        const std::map<StringId, std::int64_t> pids = this->pids();
        const ThreadTable& t = tables_.thread;
        for (Row row = 0; row < t.rows; ++row)
            if (t.key.has(row) && (has_events(t.key[row]) || was_active(t.key[row]))) {
                StringId process = t.process.value_or(row, kNoString);
                auto pid = pids.find(process);
                known.push_back({pid == pids.end() ? -1 : pid->second, t.tid.value_or(row, -1), process, t.key[row],
                                 t.name.value_or(row, kNoString)});
            }
        std::stable_sort(known.begin(), known.end(), [](const Known& a, const Known& b) {
            auto order = [](const Known& k) { return std::tuple(k.pid, index_of(k.process), k.tid != k.pid, k.tid); };
            return order(a) < order(b);
        });
        if (has_events(kNoString)) known.push_back({-1, -1, kNoString, kNoString, kNoString});
        return known;
    }

    // The first process of a key that occurs twice.
    std::map<StringId, std::int64_t> pids() const {
        std::map<StringId, std::int64_t> pids;
        const ProcessTable& p = tables_.process;
        for (Row row = 0; row < p.rows; ++row)
            if (p.key.has(row)) pids.try_emplace(p.key[row], p.pid.value_or(row, -1));
        return pids;
    }

    std::string name_of_thread(const Known& thread) const {
        std::string name = thread.key == kNoString ? "unknown thread" : fmt::format("thread {}", thread.tid);
        if (thread.name != kNoString) name += fmt::format(" {}", trace_.text(thread.name));
        return name;
    }

    void add_thread(const Known& thread) {
        auto [process, no_process] = processes_.equal_range(thread.process);
        std::int32_t track = scene_.add_track({process == no_process ? -1 : process->second,
                                               "thread",
                                               name_of_thread(thread),
                                               {},
                                               thread.key == kNoString ? std::string_view() : trace_.text(thread.key)});
        add_states(thread.key, track);
        rows_of_nested(tables_, rows_[thread.key]).add_to(track, scene_);
        auto calls = python_.find(thread.key);
        if (calls == python_.end()) return;
        std::int32_t python = scene_.add_track({track, "python", "Python"});
        rows_of_nested(tables_, calls->second).add_to(python, scene_);
    }

    // A lane per state, all on one row: the track of the thread, or one below its events.
    void add_states(StringId thread, std::int32_t of_thread) {
        auto states = states_.of_thread.find(thread);
        if (states == states_.of_thread.end()) return;
        auto track = static_cast<std::uint32_t>(has_events(thread) ? scene_.add_track({of_thread, "state", "state"})
                                                                   : of_thread);
        for (std::size_t i = 0; i < kThreadStates; ++i) {
            const IntervalSet& spans = states->second[i];
            if (spans.empty()) continue;
            Lane lane{.track = track,
                      .table = SliceTable::thread_state,
                      .label = std::string(name_of(static_cast<ThreadState>(i)))};
            for (const Interval& span : spans) lane.slices.push_back({span.start, span.length(), kNoString, kNoRow});
            scene_.lanes.push_back(std::move(lane));
        }
    }

    const Trace& trace_;
    const Tables& tables_;
    const ThreadStates& states_;
    const ProcessTracks& processes_;
    Scene& scene_;
    std::map<StringId, RowsByTable> rows_, python_;
};

}  // namespace

void add_threads(const Facts& facts, const ProcessTracks& processes, Scene& scene) {
    Threads(facts, processes, scene).add();
}

}  // namespace gpuprof::view
