// The contents of one block of a Kineto file: rows, and facts that can be placed only after the whole file was read.
// Blocks are parsed on several threads, each into a separate Block; kineto.cc combines them in file order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/build/trace_builder.h"

namespace gpuprof::inline importers::kineto {

// Times further from zero are rejected, so that the time base can be added without overflow.
inline constexpr TimeNs kMaxTime = TimeNs{1} << 61;

// One end of a fwdbwd arrow; the other end may be anywhere in the file.
struct FlowEnd {
    std::int64_t id;
    TimeNs time;
    StringId thread;  // of rows.strings
    bool begins;
};

// The name that a metadata event gives a process or thread.
struct NameRecord {
    std::string process, thread;  // keys; thread is empty for a process
    std::string name;
};

// Facts that only the call has about its device op: ROCm writes size and shape there.
struct LaunchNote {
    std::int64_t correlation;
    std::optional<std::int64_t> bytes, shared_bytes;
    std::optional<std::int32_t> grid[3], block[3];
};

// A process group, from the header's list of all groups.
struct GroupEntry {
    std::string name, ranks;  // ranks as recorded: [0, 1]
    std::optional<std::int64_t> size;
};

// The profiler's own span, times as in the file.
struct ProfilerSpan {
    TimeNs start;
    DurNs dur;
};

// What a block has in addition to its rows.
struct BlockNotes {
    std::vector<FlowEnd> flow_ends;
    std::vector<NameRecord> names;
    std::vector<std::uint64_t> process_events;  // host events by the StringId of the process key
    std::vector<LaunchNote> notes;
    std::vector<GroupEntry> groups;
    std::optional<ProfilerSpan> profiler_span;
    std::optional<std::int64_t> base_time, rank, world_size;
    std::string host;
    bool is_object = false;     // the outermost value is an object
    bool has_events = false;    // the array of events has begun
    bool paddle = false;        // its header is one of Paddle's profiler
    bool cut_off = false;       // the input ended inside an item
    std::uint64_t events = 0;   // events that were recognised, metadata included
    std::uint64_t labels = 0;   // among them: metadata and arrows, which are useless alone
    std::uint64_t foreign = 0;  // events of kinds that are not used
};

struct Block : BlockNotes {
    Batch rows;
    Batch late;  // device ops whose events lack size or shape, and all collectives: their groups may be described later

    // Columns that are not selected take no values; lasts over clear().
    void skip_unselected(const ColumnSelection& selected) {
        gpuprof::skip_unselected(rows.tables, selected);
        gpuprof::skip_unselected(late.tables, selected);
    }
    // Removes everything; the memory of the rows is kept.
    void clear() {
        static_cast<BlockNotes&>(*this) = {};
        rows.clear();
        late.clear();
    }
};

}  // namespace gpuprof::importers::kineto
