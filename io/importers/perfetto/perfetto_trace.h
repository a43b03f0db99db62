// A Perfetto trace as events: packets unpacked, times on one clock, interned texts resolved, tracks described. What the
// events mean depends on who wrote them (perfetto_rows.h).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/pod_vector.h"
#include "core/base/result.h"
#include "core/model/build/trace_builder.h"
#include "io/importers/source/source.h"

namespace gpuprof::inline importers::perfetto {

using Unpacked = PodVector<char>;  // grows in place: what is unpacked may be as large as the limit of memory

// An argument of an event. Arrays and dictionaries are texts, as JSON.
struct Note {
    std::string_view key;
    std::optional<std::int64_t> number;
    std::optional<double> real;
    std::string text;
    bool is_list = false;
};

struct Track {
    std::string name, thread_name, process_name, unit;
    std::uint64_t parent = 0;
    std::optional<std::int64_t> pid, tid;
    std::optional<double> multiplier;  // present: of a counter
};

struct Event {
    TimeNs time = 0;
    std::uint64_t track = 0;
    std::string_view name, category;
    std::vector<Note> notes;
    std::vector<std::uint64_t> flows;
    double value = 0;  // of a counter

    const Note* find(std::string_view key) const {
        for (const Note& note : notes)
            if (note.key == key) return &note;
        return nullptr;
    }
    // Also of a number that is written as text.
    std::optional<std::int64_t> number(std::string_view key) const;
    std::string_view text(std::string_view key) const {
        const Note* note = find(key);
        return note == nullptr ? std::string_view() : std::string_view(note->text);
    }
};

// Work of a GPU. The notes are what its writer added, all of it text.
struct Stage : Event {
    DurNs dur = 0;
    std::string_view kind, kernel;  // of the stage ("Kernel"), and the kernel's name
    std::optional<std::int64_t> gpu;
    std::optional<std::int64_t> grid[3], block[3];
    std::vector<Note> arguments;
};

struct GpuCount {
    TimeNs time = 0;
    std::int64_t gpu = 0;
    std::string_view name;
    double value = 0;
};

// Who receives the events, in the order of the file.
class Receiver {
public:
    virtual ~Receiver() = default;
    virtual void begin(const Event& event, std::uint64_t order) = 0;
    virtual void end(std::uint64_t track, TimeNs time, std::uint64_t order) = 0;
    virtual void instant(const Event& event) = 0;
    virtual void count(const Event& event) = 0;
    virtual void stage(const Stage& stage) = 0;
    virtual void gpu_count(const GpuCount& count) = 0;
};

class PerfettoTrace {
public:
    PerfettoTrace(std::string_view bytes, Batch& losses) : bytes_(bytes), losses_(losses) {}

    // Unpacks compressed packets, which may take `most` bytes in all; false if they take more. Then finds tracks and names.
    bool open(std::uint64_t most);
    void read(Receiver& receiver);

    const std::unordered_map<std::uint64_t, Track>& tracks() const { return tracks_; }
    bool has_category(std::string_view name) const { return categories_.contains(name); }
    // Whether the file has a packet of this sequence.
    bool has_sequence(std::uint64_t id) const { return sequence_ids_.contains(id); }
    bool has_stages() const { return stages_; }
    std::size_t packets() const { return packets_.size(); }

private:
    using Names = std::unordered_map<std::uint64_t, std::string_view>;
    struct Sequence {
        bool valid = false;  // its state is known from its beginning
        std::uint32_t clock = 6;
        std::uint64_t track = 0;
        Names categories, names, keys, texts, specifications, kernels, arguments, counters;
    };
    struct Packet;

    bool unpack(std::string_view packet, std::uint32_t field, std::uint64_t& left);
    void describe(std::string_view descriptor);
    void note_categories(std::string_view packet);
    void take_interned(std::string_view data, Sequence& sequence);
    void take_snapshot(std::string_view snapshot, std::uint64_t sequence);
    void take_defaults(std::string_view defaults, Sequence& sequence);
    void take_stats(std::string_view stats);
    std::optional<TimeNs> time_of(const Packet& packet, const Sequence& sequence);
    void track_event(const Packet& packet, const Sequence& sequence, TimeNs time, Receiver& receiver);
    void render_stage(std::string_view message, const Sequence& sequence, TimeNs time, Receiver& receiver);
    void gpu_counters(std::string_view message, const Sequence& sequence, TimeNs time, Receiver& receiver);
    Note note(std::string_view message, const Sequence& sequence, int depth);

    struct Clock {
        std::int64_t offset = 0, last = 0;  // to the boot clock; of an incremental clock, its last reading
        std::int64_t unit = 1;
        bool incremental = false;
    };
    std::string_view bytes_;
    Batch& losses_;
    std::vector<std::string_view> packets_;
    std::deque<Unpacked> unpacked_;
    std::unordered_map<std::uint64_t, Track> tracks_;
    std::set<std::string, std::less<>> categories_;
    std::set<std::uint64_t> sequence_ids_;
    std::unordered_map<std::uint64_t, Sequence> sequences_;
    std::map<std::pair<std::uint64_t, std::uint32_t>, Clock> clocks_;  // by sequence, 0 for clocks of the whole trace
    std::optional<std::int64_t> wall_;                                 // from the boot clock to wall time
    std::uint64_t order_ = 0, dropped_ = 0, without_state_ = 0, without_clock_ = 0;
    bool stages_ = false;
};

}  // namespace gpuprof::importers::perfetto
