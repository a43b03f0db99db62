// One run of this program for a file of a job, and a second one: a file whose process ran out of memory, or was killed from
// outside, is read once more, with twice the limit if that much memory is free. What a file needs is known only afterwards,
// and memory is short when many are read at once. Other engines start the process elsewhere and tell how it ended.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gpuprof::inline cli {

struct ChildEnd {
    bool ok = false;
    int status = -1;      // of its exit; -1 if it was killed or could not be started
    int signal = 0;       // that ended it, other than that of the time limit
    std::string problem;  // its last line on standard error, or what ended it
};

// `status`: of its exit, or the negative number of the signal that ended it; absent if it was killed after `seconds`. `said`: on standard
// error.
ChildEnd child_end(std::optional<std::int64_t> status, std::string said, double seconds);

// Standard output and input are /dev/null. After `seconds` the child is killed.
ChildEnd run_child(const std::string& program, const std::vector<std::string>& arguments, double seconds);

// Memory that processes could have now, in bytes, without swapping.
std::uint64_t free_memory();

// Whether the file is to be read once more with twice the `memory` of the first try, in bytes, where 0 is no limit. If only free
// memory is missing for that, `first` says so. `free` is asked only then.
bool needs_second_try(ChildEnd& first, std::uint64_t memory, const std::function<std::uint64_t()>& free);
// Says, if the second try ended like the first one, what was not enough.
void end_second_try(ChildEnd& second, std::uint64_t memory);

// Both tries; `run` starts the process with a limit.
ChildEnd run_twice(const std::function<ChildEnd(std::uint64_t memory)>& run, std::uint64_t memory,
                   const std::function<std::uint64_t()>& free = free_memory);

}  // namespace gpuprof::cli
