// A line of progress on standard error for whatever takes longer than two seconds: "reading, 42 % (5 s)", "analysing (12 s)".
// It is drawn only on a terminal and erased before anything else is printed. The cursor stays at its beginning, so that the
// output of a killed process is not in the way either.
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

// Ends the progress of the running command, if it shows one. Called by whatever prints.
void end_progress();

// `size`: bytes of the files being read, of which `read` were read; size 0 if unknown. No file is being read: `reading` is false.
std::string progress_line(bool reading, std::uint64_t read, std::uint64_t size, DurNs elapsed);

}  // namespace gpuprof
