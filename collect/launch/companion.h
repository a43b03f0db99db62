// Something that runs beside the recorded command, in this program and at no cost to the command, and leaves one more part of the
// recording: samples of the devices, of processors, of counters. `record` starts each before the command and stops it after.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/base/result.h"

namespace gpuprof {

class Companion {
public:
    virtual ~Companion() = default;
    // The name of its part: FOLDER/NAME.gpuprof.
    virtual const char* name() const = 0;
    // Before the command starts. `part` is the capture file to write. An error is told to the user and ends this companion only.
    virtual Status prepare(const std::string& part) = 0;
    // When the command runs.
    virtual void started(pid_t target) { static_cast<void>(target); }
    // When it has ended, while the system still knows its process. Short: the command's parent waits.
    virtual void ended() {}
    // After that, of all companions before the first stop(): what takes time to end begins to. Returns at once.
    virtual void ask_to_stop() {}
    // After that. A part with nothing in it is not left behind.
    virtual Status stop() = 0;
    // After stop(): what the user should know of how it went, a sentence each.
    virtual std::vector<std::string> remarks() const { return {}; }
};

}  // namespace gpuprof
