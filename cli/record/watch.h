// Looks after a recording while the command runs: how large its parts are, and a line of progress. In a thread of its own,
// four times a second.
// The line of progress is drawn only where it cannot get into the command's output: when standard error is a terminal and
// standard output is not. It is one line, redrawn at most once a second, and erased at the end. The cursor stays at its
// beginning, so that what the command writes to standard error overwrites it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "collect/launch/injection.h"
#include "core/base/ids.h"

namespace gpuprof {

struct WatchOptions {
    std::uint64_t most_bytes = 0;   // of all parts; 0: no limit
    bool progress = false;          // if the terminal allows it
    std::function<void()> on_full;  // once, in the watching thread, after the processes were told
};

class RecordingWatch {
public:
    RecordingWatch(const SpoolFolder& folder, WatchOptions options);
    ~RecordingWatch() { stop(); }
    void start();
    // Erases the line; further calls do nothing.
    void stop();
    // How long after start() the parts reached their limit; absent when they did not.
    std::optional<DurNs> full_after() const { return full_after_; }

private:
    void run();
    void look();
    void draw(DurNs elapsed);

    const SpoolFolder& folder_;
    WatchOptions options_;
    bool draws_ = false, drawn_ = false;
    TimeNs started_ = 0, drawn_at_ = 0;
    std::uint64_t bytes_ = 0;
    std::optional<DurNs> full_after_;
    std::thread thread_;
    std::mutex mutex_;  // guards stopping_
    std::condition_variable wake_;
    bool stopping_ = false;
};

// "recording 12 s, 3.40 MiB in 5 parts"
std::string progress_text(DurNs elapsed, std::uint64_t bytes, std::size_t parts);

}  // namespace gpuprof
