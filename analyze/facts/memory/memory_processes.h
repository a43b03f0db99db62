// The process of each allocation. Its thread names it; events without a thread (snapshots of an allocator, calls that
// were not recorded) belong to the only process that used the device, or to no known one. Two tools that recorded one
// process give it two keys; here, keys with one pid are one process, unless their hosts differ.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "core/model/trace.h"

namespace gpuprof::inline facts {

class MemoryProcesses {
public:
    explicit MemoryProcesses(const Trace& trace);
    // Keys of processes, one for each process; kNoString if unknown.
    StringId of(Row event) const;
    StringId of_thread(StringId thread) const;
    StringId one_of(StringId key) const;
    std::optional<std::int64_t> pid(StringId key) const;
    // The processes that used a device, by its work or allocations.
    const std::set<StringId>& users(std::int32_t device) const;

private:
    void read_keys();

    const Trace& trace_;
    std::map<StringId, StringId> of_thread_, one_of_;  // by key
    std::map<StringId, std::int64_t> pids_;
    std::map<std::int32_t, std::set<StringId>> users_;
};

}  // namespace gpuprof::facts
