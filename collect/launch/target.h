// Runs the user's command unchanged: it inherits the standard streams (unless told otherwise), the terminal, the
// process group, the environment, and the signal dispositions with which this program was started. While it runs,
// signals sent to this program are passed on; those from the terminal reach it directly. Ctrl-Z stops both, fg
// continues both. One target at a time; call from the main thread, before other threads exist, so that they inherit the
// blocked signals.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/program_environment.h"
#include "core/base/result.h"

namespace gpuprof::inline launch {

// How a target ended, in the terms of wait(2).
struct TargetExit {
    int exit_status = 0;  // if it was not killed
    int signal = 0;       // the one that killed it, or 0
    // SIGINT, SIGTERM, SIGHUP or SIGQUIT that arrived during the run, even if the target handled it; or 0
    int asked = 0;
    // The kernel's figures for the target and those of its descendants that were waited for.
    DurNs user = 0, system = 0;            // CPU time
    std::int64_t peak_resident_bytes = 0;  // of the largest of them, not of all together

    // As in shells: 128 + signal if killed.
    int shell_status() const { return signal != 0 ? 128 + signal : exit_status; }
    bool failed() const { return shell_status() != 0; }
};

// Replacements for the standard streams of the target; -1 inherits this program's.
struct TargetStreams {
    int input = -1, output = -1;
};

class Target {
public:
    // Blocks the forwarded signals, for this thread and those it starts, until destruction.
    Target();
    ~Target();
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    // Starts command[0], found through PATH, with its arguments. Errors have the codes of shells: 127 if the command does
    // not exist, 126 if it is not executable.
    Status start(const std::vector<std::string>& command, const TargetStreams& streams = {},
                 const ProgramEnvironment& environment = {});
    // Waits for its end. `ended` is called before the process is reaped.
    TargetExit wait(const std::function<void()>& ended = {});
    pid_t pid() const { return pid_; }

private:
    struct Signals;
    Signals* signals_;
    pid_t pid_ = -1;
};

// Ends this process as the target ended: with the same exit status or signal, without a core file of our own.
[[noreturn]] void exit_like(TargetExit end);

}  // namespace gpuprof::launch
