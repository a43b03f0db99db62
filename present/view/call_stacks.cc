#include "present/view/call_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <queue>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/facts/host/stack_samples.h"
#include "core/model/trace.h"
#include "present/view/scene.h"

namespace gpuprof::inline view {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The end of ", key = 12" at `at`, or `at`.
std::size_t end_of_number(std::string_view name, std::size_t at) {
    if (name.substr(at, 2) != ", ") return at;
    std::size_t key = at + 2, end = key;
    while (end < name.size() && is_word(name[end])) ++end;
    if (end == key || name.substr(end, 3) != " = ") return at;
    std::size_t digits = end += 3;
    while (end < name.size() && is_digit(name[end])) ++end;
    return end == digits ? at : end;
}

}  // namespace

std::string plain_name(std::string_view name) {
    std::string plain;
    for (std::size_t at = 0; at < name.size();) {
        std::size_t end = end_of_number(name, at);
        if (end == at) plain += name[end++];
        at = end;
    }
    std::size_t digits = plain.size();
    while (digits > 0 && is_digit(plain[digits - 1])) --digits;
    if (digits > 0 && digits < plain.size() && plain[digits - 1] == '#')
        plain.replace(digits - 1, std::string::npos, "*");
    return plain;
}

namespace {

// The distinct frames of call stacks under construction.

class FrameTable {
public:
    // Adds frames and names to `stacks`, which must outlive the table.
    FrameTable(const Trace& trace, CallStacks& stacks)
        : trace_(trace), stacks_(stacks), plain_(trace.strings().size(), kNoString) {}

    // A thread has a frame of its own, even if another has the same name.
    std::uint32_t thread(std::string_view name) {
        return add({kNoFrame, SliceTable::none, stacks_.names.intern(name)});
    }
    // A function of a recorded stack.
    std::uint32_t function(std::uint32_t parent, std::string_view name) {
        return known_or_new({parent, SliceTable::python_call, stacks_.names.intern(name)});
    }
    // The operator that created a node of a CUDA graph.
    std::uint32_t captured(std::uint32_t parent, StringId name) {
        return known_or_new({parent, SliceTable::op, plain(name)});
    }
    // The same event below another frame.
    std::uint32_t moved(std::uint32_t frame, std::uint32_t parent) {
        StackFrame copy = stacks_.frames[frame];
        copy.parent = parent;
        return known_or_new(copy);
    }
    // The frame of a slice: an event without a name is called like its lane.
    std::uint32_t of(std::uint32_t parent, const Lane& lane, StringId name = kNoString) {
        return known_or_new({parent, lane.table, name == kNoString ? stacks_.names.intern(lane.label) : plain(name)});
    }

private:
    struct Key {
        std::uint32_t parent;
        SliceTable table;
        StringId name;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            std::uint64_t bits =
                (std::uint64_t{key.parent} << 32 | index_of(key.name)) + static_cast<std::uint64_t>(key.table);
            return static_cast<std::size_t>((bits * 0x9e37'79b9'7f4a'7c15) >> 16);
        }
    };
    std::uint32_t known_or_new(const StackFrame& frame) {
        auto [found, added] = known_.try_emplace(Key{frame.parent, frame.table, frame.name}, kNoFrame);
        if (added) found->second = add(frame);
        return found->second;
    }
    std::uint32_t add(const StackFrame& frame) {
        stacks_.frames.push_back(frame);
        return static_cast<std::uint32_t>(stacks_.frames.size() - 1);
    }
    StringId plain(StringId name) {
        StringId& known = plain_[index_of(name)];
        if (known == kNoString) known = stacks_.names.intern(plain_name(trace_.text(name)));
        return known;
    }

    const Trace& trace_;
    CallStacks& stacks_;
    std::vector<StringId> plain_;  // by name in the trace
    std::unordered_map<Key, std::uint32_t, Hash> known_;
};

// A slice of a lane.
struct Place {
    std::uint32_t lane = 0, slice = 0;
};

// Of one thread; events that nest need none. Beyond them, as where thousands of ranges overlap at random, the rest of an event lies on its thread alone.
constexpr std::size_t kMostCuts = 1 << 20;

using IdlePieces = PodVector<Place>;
using IdleOfThreads = std::map<StringId, IdlePieces>;

// The slices of some lanes, outer before inner.
class SlicesInOrder {
public:
    SlicesInOrder(const Scene& scene, const std::vector<std::uint32_t>& lanes) {
        for (std::uint32_t lane : lanes)
            heads_.push_back({&scene.lanes[lane], {lane}, scene.lanes[lane].slices.begin()});
        for (std::uint32_t i = 0; i < heads_.size(); ++i) push(i);
    }
    bool next(Place& place) {
        if (heap_.empty()) return false;
        const std::uint32_t first = heap_.top().second;
        heap_.pop();
        Head& head = heads_[first];
        place = head.place;
        slice_ = head.slice;
        ++head.place.slice, ++head.next;
        push(first);
        return true;
    }
    // At the place of next().
    const Slice& slice() const { return slice_; }

private:
    struct Head {
        const Lane* lane;
        Place place;
        Slices::Iterator next;
        Slice slice = {};
    };
    // Start, end (later first), table in nesting order, row of the track.
    using Order = std::tuple<TimeNs, TimeNs, SliceTable, std::uint32_t>;
    void push(std::uint32_t at) {
        Head& head = heads_[at];
        if (head.place.slice == head.lane->slices.size()) return;
        const Slice& slice = head.slice = *head.next;
        heap_.push({{slice.start, -(slice.start + slice.dur), head.lane->table, head.lane->y}, at});
    }
    using Entry = std::pair<Order, std::uint32_t>;
    struct Later {
        bool operator()(const Entry& a, const Entry& b) const { return a.first > b.first; }
    };
    std::vector<Head> heads_;
    std::priority_queue<Entry, std::vector<Entry>, Later> heap_;
    Slice slice_;
};

class CallStacksBuilder {
public:
    CallStacksBuilder(const Trace& trace, const Scene& scene, const GraphOrigins& origins)
        : trace_(trace),
          scene_(scene),
          origins_(origins),
          frames_(trace_, result_),
          of_lane_(scene.lanes.size()),
          calls_(trace_.api_call().rows, kNoFrame) {}

    CallStacks build() && {
        result_.of_lane.resize(scene_.lanes.size());
        IdleOfThreads idle = idle_of_threads();
        std::vector<std::vector<std::uint32_t>> lanes = lanes_of_threads();
        for (std::uint32_t track = 0; track < scene_.tracks.size(); ++track)
            if (scene_.tracks[track].kind == "thread") {
                add_thread(track, lanes[track], idle);
                for (std::uint32_t lane : lanes[track]) pack(lane);
            }
        for (auto& [thread, pieces] : idle)  // of threads without a track
            for (const Place& piece : pieces) set(piece, frames_.of(kNoFrame, lane_of(piece)));
        add_device_work();
        std::sort(result_.cuts.begin(), result_.cuts.end());
        for (std::uint32_t lane = 0; lane < of_lane_.size(); ++lane) pack(lane);
        return std::move(result_);
    }

private:
    struct Open {
        TimeNs end;
        std::uint32_t frame;
        Place place;
    };

    const Lane& lane_of(const Place& place) const { return scene_.lanes[place.lane]; }
    Slice slice_of(const Place& place) const { return lane_of(place).slices[place.slice]; }

    void set(const Place& place, std::uint32_t frame) {
        PodVector<std::uint32_t>& frames = of_lane_[place.lane];
        if (frames.size() == 0) frames.resize(lane_of(place).slices.size(), kNoFrame);
        frames[place.slice] = frame;
    }

    // The pieces of idle time that a thread explains, in order of start.
    IdleOfThreads idle_of_threads() const {
        std::map<std::int32_t, std::vector<std::uint32_t>> lanes;  // of causes, by device
        for (std::uint32_t lane = 0; lane < scene_.lanes.size(); ++lane)
            if (const Lane& each = scene_.lanes[lane]; each.table == SliceTable::gap)
                lanes[scene_.tracks[each.track].device.value_or(-1)].push_back(lane);
        IdleOfThreads idle;
        for (const auto& [device, causes] : lanes) {
            SlicesInOrder slices(scene_, causes);
            for (Place place; slices.next(place);)
                idle[lane_of(place).threads.value_or(static_cast<Row>(place.slice), kNoString)].push_back(place);
        }
        auto before = [this](const Place& a, const Place& b) { return slice_of(a).start < slice_of(b).start; };
        for (auto& [thread, pieces] : idle)
            if (!std::is_sorted(pieces.begin(), pieces.end(), before))
                std::stable_sort(pieces.begin(), pieces.end(), before);
        return idle;
    }

    // Of a lane whose frames are known, keeps them in as few bytes as they need.
    void pack(std::uint32_t lane) {
        const PodVector<std::uint32_t> frames = std::exchange(of_lane_[lane], {});
        Column<std::int32_t>& column = result_.of_lane[lane];
        for (Row i = 0; i < frames.size(); ++i)
            if (frames[i] != kNoFrame) column.set(i, static_cast<std::int32_t>(frames[i]));
        if (frames.empty()) return;
        column.pad(frames.size());
        column.narrow();
    }

    // By track of a thread: its lanes, and those of its Python calls.
    std::vector<std::vector<std::uint32_t>> lanes_of_threads() const {
        std::vector<std::vector<std::uint32_t>> lanes(scene_.tracks.size());
        for (std::uint32_t lane = 0; lane < scene_.lanes.size(); ++lane) {
            if (scene_.lanes[lane].table == SliceTable::critical_path) continue;
            std::size_t track = scene_.lanes[lane].track;
            if (scene_.tracks[track].kind == "python") track = static_cast<std::size_t>(scene_.tracks[track].parent);
            lanes[track].push_back(lane);
        }
        return lanes;
    }

    StringId thread_of(const Lane& lane) const {
        StringId thread = kNoString;
        each_slice_table(trace_.tables(), [&](SliceTable which, const auto& table) {
            if constexpr (requires { table.thread; })
                if (which == lane.table) thread = table.thread.value_or(lane.slices[0].row, kNoString);
        });
        return thread;
    }

    // The name of a thread; with the process, if there are several: threads of two ranks often have one name.
    std::string root_name(std::uint32_t track) {
        const auto& tracks = scene_.tracks;
        std::string name = tracks[track].name;
        auto is_process = [](const Track& each) { return each.kind == "process"; };
        if (tracks[track].parent >= 0 && std::count_if(tracks.begin(), tracks.end(), is_process) > 1)
            name += fmt::format(" of {}", tracks[static_cast<std::size_t>(tracks[track].parent)].name);
        if (int same = ++roots_[name]; same > 1) name += fmt::format(" ({})", same);
        return name;
    }

    // What is open on one thread, in order of start. Each lies on the one before: what outlasts it is cut at its end, and the rest lies on what is left.
    class OpenEvents {
    public:
        OpenEvents(CallStacksBuilder& builder, std::uint32_t root) : builder_(builder), root_(root) {}

        void end_until(TimeNs time) {
            for (;;) {
                std::size_t ended = open_.size();
                for (std::size_t i = open_.size(); i-- > 0;)
                    if (open_[i].end <= time && (ended == open_.size() || open_[i].end < open_[ended].end)) ended = i;
                if (ended == open_.size()) return;
                TimeNs end = open_[ended].end;
                open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(ended));
                for (std::size_t i = ended; i < open_.size(); ++i) cut(i, end);
            }
        }
        std::uint32_t innermost() const { return open_.empty() ? root_ : open_.back().frame; }
        std::uint32_t open_during(TimeNs end) const {
            auto found = std::find_if(open_.rbegin(), open_.rend(), [&](const Open& each) { return each.end >= end; });
            return found == open_.rend() ? root_ : found->frame;
        }
        void push(const Open& each) { open_.push_back(each); }

    private:
        void cut(std::size_t at, TimeNs time) {
            Open& each = open_[at];
            const Lane& lane = builder_.lane_of(each.place);
            bool is_within = at > 0 && cuts_left_ > 0;
            if (cuts_left_ > 0) --cuts_left_;
            each.frame =
                builder_.frames_.of(is_within ? open_[at - 1].frame : root_, lane, lane.slices[each.place.slice].name);
            builder_.result_.cuts.push_back({each.place.lane, each.place.slice, time, each.frame});
        }
        CallStacksBuilder& builder_;
        std::uint32_t root_;
        std::size_t cuts_left_ = kMostCuts;
        std::vector<Open> open_;
    };

    void add_thread(std::uint32_t track, const std::vector<std::uint32_t>& lanes, IdleOfThreads& idle) {
        if (lanes.empty()) return;
        std::uint32_t root = frames_.thread(root_name(track));
        auto mine = idle.extract(thread_of(scene_.lanes[lanes[0]]));
        IdlePieces pieces = mine.empty() ? IdlePieces() : std::move(mine.mapped());
        std::size_t piece = 0;
        OpenEvents open(*this, root);
        auto explain_until = [&](TimeNs time) {
            for (; piece < pieces.size() && slice_of(pieces[piece]).start < time; ++piece) {
                const Slice each = slice_of(pieces[piece]);
                open.end_until(each.start);
                set(pieces[piece], frames_.of(open.open_during(each.start + each.dur), lane_of(pieces[piece])));
            }
        };
        SlicesInOrder slices(scene_, lanes);
        for (Place place; slices.next(place);) {
            const Lane& lane = lane_of(place);
            const Slice slice = slices.slice();
            explain_until(slice.start);
            open.end_until(slice.start);
            std::uint32_t frame = frames_.of(open.innermost(), lane, slice.name);
            set(place, frame);
            if (lane.table == SliceTable::api_call) calls_[slice.row] = frame;
            open.push({slice.start + slice.dur, frame, place});
        }
        explain_until(std::numeric_limits<TimeNs>::max());
        open.end_until(std::numeric_limits<TimeNs>::max());
    }

    void add_device_work() {
        const Links& links = trace_.links();
        for (std::uint32_t at = 0; at < scene_.lanes.size(); ++at) {
            const Lane& lane = scene_.lanes[at];
            const PodVector<Row>* launches = nullptr;
            if (lane.table == SliceTable::kernel) launches = &links.kernel_launch;
            if (lane.table == SliceTable::memcpy) launches = &links.memcpy_launch;
            if (lane.table == SliceTable::memset) launches = &links.memset_launch;
            if (launches == nullptr && lane.table != SliceTable::device_range) continue;
            std::uint32_t i = 0;
            for (const Slice& slice : lane.slices) {
                Row call = launches == nullptr ? kNoRow : (*launches)[slice.row];
                std::uint32_t launch = call == kNoRow ? kNoFrame : launch_of(call);
                if (lane.table == SliceTable::kernel) launch = captured_in(slice.row, launch);
                set({at, i++}, frames_.of(launch, lane, slice.name));
            }
        }
    }

    // Below the launch of a CUDA graph: the frame of the operator in which the kernel's node was captured, if that is known.
    std::uint32_t captured_in(Row kernel, std::uint32_t launch) {
        const Row node = origins_.of_kernel(trace_, kernel);
        const Column<StringId>& ops = trace_.tables().graph_node.op;
        return node == kNoRow || !ops.has(node) ? launch : frames_.captured(launch, ops[node]);
    }

    // The frame of a call, below its recorded stack if it has one, which lies below the range or operator around it.
    std::uint32_t launch_of(Row call) {
        const Column<StringId>& stacks = trace_.api_call().stack;
        std::uint32_t frame = calls_[call];
        if (frame == kNoFrame || !stacks.has(call)) return frame;
        auto [known, added] = launches_.try_emplace({frame, stacks[call]}, kNoFrame);
        if (!added) return known->second;
        std::uint32_t at = result_.frames[frame].parent;
        each_frame(trace_.text(stacks[call]), [&](std::string_view name) { at = frames_.function(at, name); });
        return known->second = frames_.moved(frame, at);
    }

    const Trace& trace_;
    const Scene& scene_;
    const GraphOrigins& origins_;
    CallStacks result_;
    FrameTable frames_;
    std::vector<PodVector<std::uint32_t>> of_lane_;                         // by lane and slice
    PodVector<std::uint32_t> calls_;                                        // frames of api_call rows
    std::map<std::pair<std::uint32_t, StringId>, std::uint32_t> launches_;  // of calls with stacks
    std::map<std::string, int> roots_;                                      // threads by name
};

}  // namespace

CallStacks call_stacks(const Trace& trace, const Scene& scene, const GraphOrigins& origins) {
    return CallStacksBuilder(trace, scene, origins).build();
}

}  // namespace gpuprof::view
