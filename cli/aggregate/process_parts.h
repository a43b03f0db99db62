// The parts that recorded processes hand over while they run (record --aggregate, and --standby with --keep-last): PID-TIME.gpuprof, each of
// up to two seconds. A process deletes its oldest ones if nobody takes them. What is to be kept for a while is renamed to
// PID-TIME.kept.gpuprof, where the process does not find it and `record --merge` does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"

namespace gpuprof::inline cli {

struct ProcessPart {
    std::int64_t pid = 0;
    TimeNs begin = 0, end = 0;  // CLOCK_REALTIME: of the file, and of the next one or the last write
    std::string file = {};
    std::uint64_t bytes = 0;
    bool kept = false, newest = false;  // newest: of its process, which still writes it if it has not ended
    bool open = false;                  // ... as the user of the list knows
};

// By process and time.
std::vector<ProcessPart> process_parts(const std::string& folder);

// What a part says of its process; absent if it is too short or damaged.
struct PartFacts {
    std::optional<std::int64_t> rank;
    std::string pid, first_part;
    std::uint64_t number = 0;
};
std::optional<PartFacts> read_part_facts(const std::string& file);

// Out of the reach of its process. False if it is gone.
bool keep_part(ProcessPart& part);
// Deletes kept parts: those that ended before `since`, and the oldest while all have more than `bytes`.
void delete_old_parts(std::vector<ProcessPart>& parts, TimeNs since, std::uint64_t bytes);

inline constexpr DurNs kDelivered =
    1'000'000'000;  // after the end of a window all its records are in parts that began by then

// What a capture of the past is of.
struct PastWindow {
    std::int64_t trigger = 0;
    TimeNs open = 0, opened = 0, closed = 0;  // asked for; what the parts have
};
// Gathers in folder `into` those of the parts of a process that a window needs, by links or copies, and with them a part that names the window.
void gather_window(const std::vector<ProcessPart>& parts, std::int64_t pid, const PastWindow& window,
                   const std::string& into);

}  // namespace gpuprof::cli
