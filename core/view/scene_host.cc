// Processes and their threads. What lies inside another span stands on the row below it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/exporters/lanes.h"
#include "core/view/scene.h"

namespace gpuprof {
namespace {

using Spans = std::vector<Placed>;

// Per span, which must be outer first, the row it stands on: below everything that is open when it begins.
std::vector<std::uint32_t> rows_of_nested(const Spans& spans) {
    struct Open {
        TimeNs end;
        std::uint32_t y;
    };
    std::vector<Open> open;
    std::vector<std::uint32_t> rows;
    rows.reserve(spans.size());
    for (const Placed& span : spans) {
        std::erase_if(open, [&](const Open& each) { return each.end <= span.start; });
        std::uint32_t y = 0;
        for (const Open& each : open) y = std::max(y, each.y + 1);
        rows.push_back(y);
        open.push_back({span.end, y});
    }
    return rows;
}

class Threads {
public:
    Threads(const Trace& trace, const ProcessTracks& processes, Scene& scene)
        : trace_(trace), tables_(trace.tables()), processes_(processes), scene_(scene) {}

    void add() {
        gather(tables_.range, SliceTable::range, spans_);
        gather(tables_.op, SliceTable::op, spans_);
        gather(tables_.api_call, SliceTable::api_call, spans_);
        gather(tables_.os_call, SliceTable::os_call, spans_);
        gather(tables_.overhead, SliceTable::overhead, spans_);
        gather(tables_.python_call, SliceTable::python_call, python_);
        for (const Known& thread : known_threads()) add_thread(thread);
    }

private:
    struct Known {
        std::int64_t pid, tid;
        StringId process, key, name;
    };

    template <class Table>
    static void gather(const Table& table, SliceTable which, std::map<StringId, Spans>& into) {
        for (Row row = 0; row < table.rows; ++row)
            into[table.thread.value_or(row, kNoString)].push_back(
                {table.start[row], table.start[row] + table.dur[row], static_cast<std::uint32_t>(which), row});
    }

    // Those with something to show; the main thread of a process first. Last what is on a thread that is not known.
    std::vector<Known> known_threads() const {
        std::vector<Known> known;
        const ThreadTable& t = tables_.thread;
        for (Row row = 0; row < t.rows; ++row)
            if (t.key.has(row) && (spans_.count(t.key[row]) > 0 || python_.count(t.key[row]) > 0)) {
                StringId process = t.process.value_or(row, kNoString);
                known.push_back(
                    {pid_of(process), t.tid.value_or(row, -1), process, t.key[row], t.name.value_or(row, kNoString)});
            }
        std::stable_sort(known.begin(), known.end(), [](const Known& a, const Known& b) {
            auto order = [](const Known& k) { return std::tuple(k.pid, index_of(k.process), k.tid != k.pid, k.tid); };
            return order(a) < order(b);
        });
        if (spans_.count(kNoString) > 0 || python_.count(kNoString) > 0)
            known.push_back({-1, -1, kNoString, kNoString, kNoString});
        return known;
    }

    std::int64_t pid_of(StringId process) const {
        const ProcessTable& p = tables_.process;
        for (Row row = 0; row < p.rows; ++row)
            if (p.key.get(row) == process) return p.pid.value_or(row, -1);
        return -1;
    }

    std::string name_of_thread(const Known& thread) const {
        std::string name = thread.key == kNoString ? "thread not known" : fmt::format("thread {}", thread.tid);
        if (thread.name != kNoString) name += fmt::format(" {}", trace_.text(thread.name));
        return name;
    }

    void add_thread(const Known& thread) {
        auto process = std::find_if(processes_.begin(), processes_.end(),
                                    [&](const auto& each) { return each.first == thread.process; });
        std::int32_t track =
            scene_.add_track({process == processes_.end() ? -1 : process->second, "thread", name_of_thread(thread)});
        add_lanes(track, spans_[thread.key]);
        if (python_[thread.key].empty()) return;
        add_lanes(scene_.add_track({track, "python", "Python"}), python_[thread.key]);
    }

    // A lane per row and table.
    void add_lanes(std::int32_t track, Spans& spans) {
        sort_outer_first(spans);
        std::vector<std::uint32_t> rows = rows_of_nested(spans);
        std::map<std::pair<std::uint32_t, std::uint32_t>, Lane> lanes;
        for (std::size_t i = 0; i < spans.size(); ++i) {
            const Placed& span = spans[i];
            Lane& lane = lanes[{rows[i], span.table}];
            lane.slices.push_back({span.start, span.end - span.start,
                                   name_of_row(static_cast<SliceTable>(span.table), span.row), span.row});
        }
        for (auto& [at, lane] : lanes) {
            lane.track = static_cast<std::uint32_t>(track);
            lane.y = at.first;
            lane.table = static_cast<SliceTable>(at.second);
            lane.label = name_of(lane.table);
            scene_.add_lane(std::move(lane));
        }
    }

    StringId name_of_row(SliceTable table, Row row) const {
        switch (table) {
            case SliceTable::range: return tables_.range.name.value_or(row, kNoString);
            case SliceTable::op: return tables_.op.name.value_or(row, kNoString);
            case SliceTable::api_call: return tables_.api_call.name.value_or(row, kNoString);
            case SliceTable::os_call: return tables_.os_call.name.value_or(row, kNoString);
            case SliceTable::overhead: return tables_.overhead.name.value_or(row, kNoString);
            case SliceTable::python_call: return tables_.python_call.name.value_or(row, kNoString);
            default: return kNoString;
        }
    }

    const Trace& trace_;
    const Tables& tables_;
    const ProcessTracks& processes_;
    Scene& scene_;
    std::map<StringId, Spans> spans_, python_;
};

}  // namespace

void add_threads(const Trace& trace, const ProcessTracks& processes, Scene& scene) {
    Threads(trace, processes, scene).add();
}

}  // namespace gpuprof
