// Which processes belong to a recorded command: the command itself, the children of those that belong, and processes that
// lost their parent but carry the recording's mark in their environment. The launcher does not make itself the new parent
// of orphans (PR_SET_CHILD_SUBREAPER): a daemon would see another parent than 1, and some wait for just that.
// A scan lists /proc and looks only at processes it has not seen, so it stays cheap on a machine with many. A process that
// lives for less than the time between two scans is not seen.
#pragma once

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "collect/cpu/proc_files.h"

namespace gpuprof {

class ProcessTree {
public:
    // `mark` is "NAME=VALUE" of an environment variable that only this recording's processes have; "" when there is none.
    ProcessTree(ProcFiles& files, pid_t root, std::string mark);

    // Looks again; every process that belongs and is there, by id. Good until the next scan.
    const std::vector<pid_t>& scan();
    const std::vector<pid_t>& members() const { return members_; }

private:
    bool belongs(pid_t pid, std::int64_t& start_ticks);
    bool marked(pid_t pid);

    ProcFiles& files_;
    pid_t root_;
    std::string mark_;
    std::int64_t begin_ticks_ = 0;  // of the command; what began before does not belong
    std::vector<pid_t> listed_, members_, unknown_;
    std::map<pid_t, std::int64_t> known_;  // members of all scans that are still there, with their start
    std::unordered_set<pid_t> foreign_, foreign_next_;
};

}  // namespace gpuprof
