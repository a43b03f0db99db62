// Watches a recording while the command runs: the size of its parts, and a line of progress. Runs in a separate thread,
// four times a second.
// The progress line appears only where it cannot mix with the command's output: if standard error is a terminal and
// standard output is not. It is redrawn at most once a second and erased at the end. The cursor stays at its beginning,
// so that the command's own standard error overwrites it.
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

namespace gpuprof::inline cli {

struct WatchOptions {
    std::uint64_t max_bytes = 0;    // total size of all parts; 0: no limit
    bool progress = false;          // show progress if the terminal allows it
    std::function<void()> on_full;  // called once, in the watching thread, after the processes were told
};

class RecordingWatch {
public:
    RecordingWatch(const SpoolFolder& folder, WatchOptions options);
    ~RecordingWatch() { stop(); }
    void start();
    // Erases the progress line; further calls do nothing.
    void stop();
    // Time from start() until the parts reached their limit; absent if they did not.
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

}  // namespace gpuprof::cli
