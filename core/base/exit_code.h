// The closed list of exit codes of the program (a contract: scripts depend on it). Errors inside the core carry one
// of these codes, so that a command never has to guess how a failure ends. 128+N and a target's own status are
// passed on by the launching commands and are not in this list.
#pragma once

#include <string_view>

namespace gpuprof {

enum class ExitCode : int {
    ok = 0,
    threshold = 1,      // only when a condition or constraint that was asked for fired
    usage = 2,          // the command line is wrong
    unreadable = 3,     // an input cannot be read
    empty = 4,          // nothing was captured
    not_permitted = 5,  // the system refuses what was asked
    internal = 6,       // a defect of this program, or the machine failed it (disk full, out of memory)
};

// The same list for people: the help and the reference page print it.
struct ExitCodeSpec {
    ExitCode code;
    std::string_view name, doc;
};
inline constexpr ExitCodeSpec kExitCodes[] = {
    {ExitCode::ok, "ok", "What was asked for was done."},
    {ExitCode::threshold, "threshold", "A --fail-on condition fired, or a constraint of bench or evaluate."},
    {ExitCode::usage, "usage", "The command line is wrong."},
    {ExitCode::unreadable, "unreadable", "An input cannot be read."},
    {ExitCode::empty, "empty", "Nothing was captured."},
    {ExitCode::not_permitted, "not permitted", "The system refuses what was asked."},
    {ExitCode::internal, "internal", "A defect of the program, or the machine failed it (disk full, out of memory)."},
};

}  // namespace gpuprof
