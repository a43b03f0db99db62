// Something that runs alongside the recorded command, in this program and at no cost to the command, and leaves one
// more part of the recording: samples of devices, CPU use, or counters. `record` starts each one before the command and
// stops it afterwards.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/base/result.h"

namespace gpuprof::inline launch {

class Companion {
public:
    virtual ~Companion() = default;
    // The name of its part: FOLDER/NAME.gpuprof.
    virtual const char* name() const = 0;
    // Before the command starts. `part` is the capture file to write. An error is reported to the user and ends only
    // this companion.
    virtual Status prepare(const std::string& part) = 0;
    // When the command runs.
    virtual void started(pid_t target) { static_cast<void>(target); }
    // When it has ended but is not yet reaped. Must be short: the command's parent waits.
    virtual void ended() {}
    // After that, for all companions before the first stop(): begins what takes time. Returns at once.
    virtual void ask_to_stop() {}
    // After that. An empty part is removed.
    virtual Status stop() = 0;
    // After stop(): messages for the user, one sentence each.
    virtual std::vector<std::string> remarks() const { return {}; }
};

}  // namespace gpuprof::launch
