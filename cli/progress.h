// A progress line on standard error for commands that take longer than two seconds: "reading, 42 % (5 s)",
// "analysing (12 s)". It is drawn only on a terminal and erased before anything else is printed. The cursor stays at
// its start, so that later output overwrites it even if the process is killed. A command with a line of its own shows it
// sooner, and where there is no terminal, as a note every 30 seconds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/ids.h"

namespace gpuprof::inline cli {

// When a line is drawn on a terminal, and how often it is printed elsewhere.
struct ProgressPace {
    std::chrono::milliseconds first{500}, next{1'000}, note{30'000};
};

class Progress {
public:
    Progress();
    // `line` gets the time since this object was made.
    explicit Progress(std::function<std::string(DurNs)> line, ProgressPace pace = {});
    ~Progress() { end(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // Erases the line; nothing is drawn afterwards.
    void end();

private:
    void start(bool terminal);
    void run(bool terminal);

    std::function<std::string(DurNs)> line_;  // empty: progress_line()
    ProgressPace pace_;
    std::thread thread_;
    std::mutex mutex_;  // guards ending_
    std::condition_variable wake_;
    bool ending_ = false, drawn_ = false;
};

// Ends the progress line of the running command, if any. Call before printing.
void end_progress();

// `read` of `size` bytes were read; size 0 if unknown. `reading` is false while no file is being read.
std::string progress_line(bool reading, std::uint64_t read, std::uint64_t size, DurNs elapsed);

}  // namespace gpuprof::cli
