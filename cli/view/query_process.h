// A process that answers SQL over what this one has read: a fork, which has the recording without reading it again. What a query does to
// time and memory ends with it: it is killed when it is cancelled or late, whatever it is doing, and it may use 2 GiB more than the
// server. Between queries it keeps what analyses computed.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "core/base/result.h"

namespace gpuprof::inline cli {

class QueryProcess {
public:
    using Answer = std::function<Result<std::string>(const std::string& sql)>;

    // The process calls `answer` for each query. It ends with the thread that starts it.
    static Result<std::unique_ptr<QueryProcess>> start(const Answer& answer);
    // Kills the process and waits for its end.
    ~QueryProcess();
    QueryProcess(const QueryProcess&) = delete;
    QueryProcess& operator=(const QueryProcess&) = delete;

    // What `answer` returned; an error if the process ended, or was killed because it did not end itself within a second after the limit. One
    // query at a time.
    Result<std::string> ask(const std::string& sql, std::chrono::seconds limit);
    // Ends the process; from any thread.
    void kill();
    // Whether it can answer no more.
    bool ended() const { return ended_; }

private:
    QueryProcess(pid_t process, int channel) : process_(process), channel_(channel) {}
    pid_t process_;
    int channel_;
    std::atomic<bool> ended_ = false;
};

}  // namespace gpuprof::cli
