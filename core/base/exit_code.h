// The closed list of exit codes of the program (a contract: scripts depend on it). Errors inside the core carry one of
// these codes, so that a command never has to guess how a failure ends. Launching commands pass on the target's own
// status or 128+N, which this list does not include.
#pragma once

#include <string_view>

namespace gpuprof::inline base {

enum class ExitCode : int {
    ok = 0,
    threshold = 1,      // only if a requested condition or constraint fired
    usage = 2,          // invalid command line
    unreadable = 3,     // an input cannot be read
    empty = 4,          // nothing was captured
    not_permitted = 5,  // permission denied or unsupported on this system
    internal = 6,       // a defect of this program, or a failure of the machine (disk full, out of memory)
};

// The same list for people: the help and the reference page print it.
struct ExitCodeSpec {
    ExitCode code;
    std::string_view name, doc;
};
inline constexpr ExitCodeSpec kExitCodes[] = {
    {ExitCode::ok, "ok", "Success."},
    {ExitCode::threshold, "threshold", "A --fail-on condition or a constraint of bench or evaluate fired."},
    {ExitCode::usage, "usage", "Invalid command line."},
    {ExitCode::unreadable, "unreadable", "An input cannot be read."},
    {ExitCode::empty, "empty", "Nothing was captured."},
    {ExitCode::not_permitted, "not permitted", "Permission denied or unsupported on this system."},
    {ExitCode::internal, "internal",
     "A defect of the program, or a failure of the machine (disk full, out of memory)."},
};

}  // namespace gpuprof::base
