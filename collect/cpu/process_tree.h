// The processes of a recorded command: the command itself, children of its processes, and processes that lost their
// parent but carry the recording's mark in their environment. The launcher does not adopt orphans
// (PR_SET_CHILD_SUBREAPER): a daemon would then see a parent other than 1, and some wait for exactly that.
// A scan lists /proc and examines only new processes, so it stays cheap on a machine with many. A process that lives
// for less than the time between two scans is missed.
#pragma once

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "collect/cpu/proc_files.h"

namespace gpuprof::inline cpu {

class ProcessTree {
public:
    // `mark` is "NAME=VALUE" of an environment variable that only processes of this recording have; "" if there is
    // none.
    ProcessTree(ProcFiles& files, pid_t root, std::string mark);

    // Scans again and returns the living processes of the command, by id. Valid until the next scan.
    const std::vector<pid_t>& scan();
    const std::vector<pid_t>& members() const { return members_; }

private:
    bool belongs(pid_t pid, std::int64_t& start_ticks);
    bool marked(pid_t pid);

    ProcFiles& files_;
    pid_t root_;
    std::string mark_;
    std::int64_t begin_ticks_ = 0;  // of the command; processes that started earlier do not belong to it
    std::vector<pid_t> listed_, members_, unknown_;
    std::map<pid_t, std::int64_t> known_;  // living members from all scans, with their start time
    std::unordered_set<pid_t> foreign_, foreign_next_;
};

}  // namespace gpuprof::cpu
