// The processes and threads that the rows of a foreign file name, each with its row in `process` and `thread`.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/build/batch.h"
#include "io/importers/row_values.h"

namespace gpuprof::inline importers {

class HostPlaces {
public:
    explicit HostPlaces(Batch& batch) : batch_(batch) {}

    // The row and key of a new process. Of several with one pid, as in merged files, the later ones have a number in their keys.
    std::pair<Row, StringId> add_process(std::int64_t pid) {
        int number = ++processes_[pid];
        std::string key = number == 1 ? fmt::format("{}", pid) : fmt::format("{}#{}", pid, number);
        ProcessTable& table = batch_.tables.process;
        Row row = table.add();
        StringId id = batch_.intern(key);
        table.key.set(row, id);
        table.pid.set(row, pid);
        return {row, id};
    }
    // The key of a process that its pid identifies.
    StringId process(std::int64_t pid) {
        auto [known, added] = by_pid_.try_emplace(pid, kNoString);
        if (added) known->second = add_process(pid).second;
        return known->second;
    }
    StringId thread(StringId process, std::int64_t tid, std::string_view name = {}) {
        auto [known, added] = threads_.try_emplace({process, tid}, kNoString);
        if (!added) return known->second;
        std::string owner(process == kNoString ? std::string_view() : batch_.strings[process]);
        ThreadTable& table = batch_.tables.thread;
        Row row = table.add();
        known->second = batch_.intern(fmt::format("{}/{}", owner, tid));
        table.key.set(row, known->second);
        set_known(table.process, row, process);
        table.tid.set(row, tid);
        set_text(batch_, table.name, row, name);
        return known->second;
    }

private:
    Batch& batch_;
    std::map<std::int64_t, int> processes_;  // how many have this pid
    std::map<std::int64_t, StringId> by_pid_;
    std::map<std::pair<StringId, std::int64_t>, StringId> threads_;
};

}  // namespace gpuprof::importers
