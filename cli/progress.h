// A progress line on standard error for commands that take longer than two seconds: "reading, 42 % (5 s)",
// "analysing (12 s)". It is drawn only on a terminal and erased before anything else is printed. The cursor stays at
// its start, so that later output overwrites it even if the process is killed.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/ids.h"

namespace gpuprof {

class Progress {
public:
    Progress();
    ~Progress() { end(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // Erases the line; nothing is drawn afterwards.
    void end();

private:
    void run();

    std::thread thread_;
    std::mutex mutex_;  // guards ending_
    std::condition_variable wake_;
    bool ending_ = false, drawn_ = false;
};

// Ends the progress line of the running command, if any. Call before printing.
void end_progress();

// `read` of `size` bytes were read; size 0 if unknown. `reading` is false while no file is being read.
std::string progress_line(bool reading, std::uint64_t read, std::uint64_t size, DurNs elapsed);

}  // namespace gpuprof
