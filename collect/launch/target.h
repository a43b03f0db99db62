// Runs the user's command untouched: it inherits the standard streams (unless told otherwise), the terminal, the process group,
// the environment and the signal dispositions this program was started with. While it runs, signals sent to this program are passed on;
// those of the terminal reach it by themselves. Ctrl-Z stops both, fg continues both.
// One target at a time; call from the main thread, before other threads exist, so that they inherit the blocked signals.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"

namespace gpuprof {

// How a target ended, in the terms of wait(2).
struct TargetEnd {
    int exit_status = 0;  // when it was not killed
    int signal = 0;       // that killed it, or 0
    int asked = 0;        // SIGINT, SIGTERM, SIGHUP or SIGQUIT that arrived while it ran, whatever it made of it; or 0
    // By the kernel's account of the target and of those of its descendants that were waited for.
    DurNs user = 0, system = 0;            // processor time
    std::int64_t peak_resident_bytes = 0;  // of whichever of them had most, not of all together

    // As shells say it: 128 + signal when killed.
    int shell_status() const { return signal != 0 ? 128 + signal : exit_status; }
    bool failed() const { return shell_status() != 0; }
};

// What the target gets in place of the standard streams of this program; -1 leaves one as it is.
struct TargetStreams {
    int input = -1, output = -1;
};

class Target {
public:
    // Blocks the signals that are passed on, for this thread and those it starts, until it is destroyed.
    Target();
    ~Target();
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    // Starts command[0], found by PATH, with its arguments. An error says why it cannot be started; its code is that of
    // shells: 127 when there is no such command, 126 when it cannot be executed.
    Status start(const std::vector<std::string>& command, const TargetStreams& streams = {});
    // Until it ends. `ended` is called when it has, while the system still knows its process.
    TargetEnd wait(const std::function<void()>& ended = {});
    pid_t pid() const { return pid_; }

private:
    struct Signals;
    Signals* signals_;
    pid_t pid_ = -1;
};

// Ends this process as the target ended: the same exit status, or the same signal, without a core file of our own.
[[noreturn]] void end_like(TargetEnd end);

}  // namespace gpuprof
