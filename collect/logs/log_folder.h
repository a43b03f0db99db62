// The log files that libraries of a recorded command write into one folder: when each part of them appeared, how much
// disk they may take, and their lines as a part of the recording. The files are untrusted: only the first kMaxFileBytes
// of regular files are read, and what is skipped is counted as a loss.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collect/logs/log_parser.h"
#include "core/base/result.h"

namespace gpuprof::logs {

inline constexpr std::int64_t kMaxFileBytes = 16 << 20;
inline constexpr std::size_t kMaxFiles = 1000, kMaxEntries = 200'000;

// Sizes of a file at growing times: a line without a time was written before its end was first seen.
using Growth = std::vector<std::pair<TimeNs, std::int64_t>>;

// A thread that looks at the folder ten times a second. It notes how files grow, and gives the disk back what lies behind
// kMaxFileBytes (where the file system can).
class LogWatch {
public:
    explicit LogWatch(std::string folder);
    ~LogWatch() { stop(); }
    void start();
    void stop();
    const std::map<std::string, Growth>& growth() const { return growth_; }

private:
    void run();
    void look();

    std::string folder_;
    std::map<std::string, Growth> growth_;
    std::thread thread_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool ended_ = false;
};

// Writes the lines of all files of `folder` to the capture `part`. Returns the number of lines.
Result<std::size_t> write_logs(const std::string& folder, const std::string& part, LogWindow window,
                               const std::map<std::string, Growth>& growth);

}  // namespace gpuprof::logs
