// The launcher's side of `record --standby`: relays requests from the folder that ranks and hosts share to that of this recording, and
// makes a capture of each window while the command goes on.
//
//   relay    a thread that alone touches the shared folder; if its file system hangs, so does this thread, and nothing else
//   keeper   a thread that reads what the processes report, starts the companions for a window, and has the parts merged by
//            `record --merge` in a process of low priority, which writes the capture
//
// With --keep-last the processes record all the time and hand over parts (cli/aggregate/process_parts.h). The keeper deletes those that
// are too old or too many, and a window, which may be over when it is asked for, gets links to the parts that it needs.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/aggregate/process_parts.h"
#include "collect/launch/companion.h"
#include "collect/launch/run_folder.h"
#include "core/base/result.h"
#include "core/model/build/trace_builder.h"

namespace gpuprof::inline cli {

// What became of the triggers when the command has ended.
struct StandbyResult {
    std::size_t captures = 0;
    std::vector<std::string> left = {};  // folders of parts that could not become captures; `record --merge` reads them
};

struct StandbyOptions {
    std::string shared;  // DIR of -o, absolute
    std::string local;   // the folder of the parts
    bool network = false;
    DurNs keep_last = 0;           // with --keep-last: everything is recorded, and captures are made of the last parts
    std::uint64_t most_bytes = 0;  // of these parts
    bool handed_on = false;        // parts are kept (process_parts.h) by another reader
    std::function<std::vector<std::unique_ptr<Companion>>()> companions;  // fresh ones for a window
    std::function<Batch(bool alone)> facts;  // the launcher's; `alone`: of one capture for all processes
};

class Standby {
public:
    explicit Standby(StandbyOptions options);
    ~Standby();
    Standby(const Standby&) = delete;
    Standby& operator=(const Standby&) = delete;
    void start(pid_t target);
    // The command has ended: what is open becomes captures. Waits for them, but not for a folder that hangs.
    void finish();
    const StandbyResult& result() const { return result_; }

private:
    struct Relay;
    struct Merge {
        pid_t process;
        std::string folder, capture;
    };
    struct Round {
        control::Request request;
        std::vector<std::unique_ptr<Companion>> companions;
        bool prepared = false, over = false;
        std::map<std::int64_t, launch::ProcessState> processes;
    };
    void run();
    void look(bool last);
    void take_request();
    void take_reports(bool last);
    void take_parts(bool last);
    void follow(Round& round, const std::map<std::int64_t, bool>& ended);
    void begin(Round& round);
    bool is_over(const Round& round, bool last) const;
    void harvest(Round& round);
    void merge(Round& round, const std::vector<std::int64_t>& pids, bool alone);
    void reap();
    void publish(bool ended);

    StandbyOptions options_;
    pid_t target_ = -1;
    std::shared_ptr<Relay> relay_;
    std::map<std::int64_t, control::Report> waiting_;  // processes in standby
    std::map<std::int64_t, Round> rounds_;             // by the number of the trigger
    std::vector<ProcessPart> parts_;                   // with --keep-last
    std::map<std::int64_t, PartFacts> known_;          // processes of these parts
    std::vector<Merge> merges_;
    std::int64_t last_id_ = 0;
    StandbyResult result_;
    std::string published_;
    std::thread thread_;
    std::mutex mutex_;  // guards stopping_
    std::condition_variable wake_;
    bool stopping_ = false;
};

}  // namespace gpuprof::cli
