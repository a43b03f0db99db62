#include "io/exporters/chrome/identity.h"

#include <set>

namespace gpuprof::inline exporters {
namespace {

// Far above any system's ids, to avoid collisions.
constexpr std::int64_t kMadeUp = std::int64_t{1} << 32;

}  // namespace

ChromeIdentity::ChromeIdentity(const Trace& trace) {
    const ProcessTable& process = trace.tables().process;
    std::set<std::int64_t> pids;
    for (Row row = 0; row < process.rows; ++row) {
        std::int64_t pid = process.pid.value_or(row, -1);
        bool free = pid >= 0 && pids.insert(pid).second;
        processes_[process.key[row]] = free ? pid : kMadeUp + row;
    }
    const ThreadTable& thread = trace.tables().thread;
    std::set<std::pair<std::int64_t, std::int64_t>> tids;
    for (Row row = 0; row < thread.rows; ++row) {
        std::int64_t pid = thread.process.has(row) ? this->process(thread.process[row]) : -1;
        bool free = thread.tid.has(row) && tids.insert({pid, thread.tid[row]}).second;
        threads_[thread.key[row]] = {pid, free ? thread.tid[row] : kMadeUp + row};
    }
}

std::int64_t ChromeIdentity::process(StringId key) const {
    auto found = processes_.find(key);
    return found == processes_.end() ? -1 : found->second;
}

HostId ChromeIdentity::thread(StringId key) const {
    auto found = threads_.find(key);
    return found == threads_.end() ? HostId{-1, 0} : found->second;
}

}  // namespace gpuprof::exporters
