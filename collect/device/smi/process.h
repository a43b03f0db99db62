// A child process whose output is read without waiting: nvidia-smi. It starts without a shell, with LC_ALL=C, no input,
// none of our descriptors, default signals, and its own process group (Ctrl-C is for the target). Both output streams
// arrive as one text. Nothing here waits for a process that the driver holds: a killed one is reaped when possible.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"

namespace gpuprof::inline device::nvidia_smi {

class Process {
public:
    Process() = default;
    ~Process() { kill(); }
    Process(Process&& other) noexcept { *this = std::move(other); }
    Process& operator=(Process&& other) noexcept;

    static Result<Process> start(const std::string& program, const std::vector<std::string>& arguments);
    // Appends available output; false at its end. Waits up to `timeout` for new output.
    bool read(std::string& to, DurNs timeout);
    // "exit status 9" or "signal 11" if it has ended; waits briefly for that.
    std::optional<std::string> ending();
    bool running() const { return pid_ > 0; }
    void kill();

private:
    pid_t pid_ = -1;
    int output_ = -1;
};

// Path of nvidia-smi: from PATH (not in a program with raised privileges), /usr/bin or WSL's folder; "" if not found.
std::string find_nvidia_smi();

}  // namespace gpuprof::device::nvidia_smi
