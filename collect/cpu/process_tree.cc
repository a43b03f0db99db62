#include "collect/cpu/process_tree.h"

#include <algorithm>

namespace gpuprof::inline cpu {

ProcessTree::ProcessTree(ProcFiles& files, pid_t root, std::string mark)
    : files_(files), root_(root), mark_(std::move(mark)) {
    if (std::optional<ProcStat> stat = files_.stat(root)) begin_ticks_ = stat->start_ticks;
}

bool ProcessTree::marked(pid_t pid) {
    constexpr std::size_t kMaxEnvironmentBytes = 256 * 1024;
    if (mark_.empty()) return false;
    std::optional<std::string_view> environment = files_.read(pid, "environ", kMaxEnvironmentBytes);
    if (!environment) return false;
    std::size_t at = environment->find(mark_);
    for (; at != std::string_view::npos; at = environment->find(mark_, at + 1)) {
        std::size_t end = at + mark_.size();
        bool begins = at == 0 || (*environment)[at - 1] == '\0';
        if (begins && (end == environment->size() || (*environment)[end] == '\0')) return true;
    }
    return false;
}

bool ProcessTree::belongs(pid_t pid, std::int64_t& start_ticks) {
    std::optional<ProcStat> stat = files_.stat(pid);
    if (!stat || stat->start_ticks < begin_ticks_) return false;
    start_ticks = stat->start_ticks;
    return pid == root_ || known_.count(stat->parent) > 0 || marked(pid);
}

const std::vector<pid_t>& ProcessTree::scan() {
    files_.list_processes(listed_);
    std::sort(listed_.begin(), listed_.end());
    std::erase_if(
        known_, [&](const auto& member) { return !std::binary_search(listed_.begin(), listed_.end(), member.first); });
    unknown_.clear();
    foreign_next_.clear();
    for (pid_t pid : listed_) {
        if (known_.count(pid) > 0) continue;
        if (foreign_.count(pid) > 0)
            foreign_next_.insert(pid);
        else
            unknown_.push_back(pid);
    }
    // A child may have a lower id than its parent after the ids have wrapped around.
    for (bool found = true; found && !unknown_.empty();) {
        found = false;
        std::erase_if(unknown_, [&](pid_t pid) {
            std::int64_t start = 0;
            if (!belongs(pid, start)) return false;
            known_[pid] = start;
            return found = true;
        });
    }
    foreign_next_.insert(unknown_.begin(), unknown_.end());
    foreign_.swap(foreign_next_);
    members_.clear();
    for (const auto& [pid, start] : known_) members_.push_back(pid);
    return members_;
}

}  // namespace gpuprof::cpu
