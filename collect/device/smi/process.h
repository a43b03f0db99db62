// A child process whose output is read without waiting: nvidia-smi. Started without a shell, with LC_ALL=C, no input, no
// descriptors of ours, default signals, in a process group of its own (Ctrl-C is for the target). Both its output streams
// come as one text. Nothing here waits for a process that the driver holds: a killed one is reaped when it can be.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"

namespace gpuprof::smi {

class Process {
public:
    Process() = default;
    ~Process() { kill(); }
    Process(Process&& other) noexcept { *this = std::move(other); }
    Process& operator=(Process&& other) noexcept;

    static Result<Process> start(const std::string& program, const std::vector<std::string>& arguments);
    // Appends what has come; false at the end of its output. Waits up to `timeout` for something to come.
    bool read(std::string& to, DurNs timeout);
    // "exit status 9" or "signal 11", when it ended; waits a moment for that.
    std::optional<std::string> ending();
    bool running() const { return pid_ > 0; }
    void kill();

private:
    pid_t pid_ = -1;
    int output_ = -1;
};

// nvidia-smi by PATH (not in a program with raised privileges), /usr/bin and the folder of WSL; "" when there is none.
std::string find_nvidia_smi();

}  // namespace gpuprof::smi
