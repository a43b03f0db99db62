// Summaries of recordings kept in a small SQLite file, so that a run can be held against those before it:
//
//   run    id, added_at (UTC), label, machine, hardware, tool, file
//   value  run, metric, value       one row per metric that the run has, by the names of metrics.def
//
// Runs are comparable when label, machine, hardware and tool are equal. Several processes may add at once: each addition is one
// transaction, and waits for others; SQLite's journal undoes one that a kill interrupts. A file that is damaged or of something
// else is never written to.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "core/base/result.h"
#include "core/model/result_table.h"

struct sqlite3;

namespace gpuprof::compare {

struct HistoryKey {
    std::string label, machine, hardware, tool;
};

struct HistoryRun {
    std::int64_t id = 0;
    std::string added_at;  // 2026-01-31T12:00:00Z
    HistoryKey key;
    std::string file;
    Values values;
};

class History {
public:
    // Made when it is not there yet, whole, for its owner alone. `announce` as in OutputOptions.
    static Result<History> open_to_add(const std::string& path,
                                       const std::function<void(const std::string&)>& announce = {});
    // Never made, and changed only to undo an addition that a killed process left half done. A file that is not there is a
    // history without runs.
    static Result<History> open_to_read(const std::string& path);

    // Its id and time are chosen here. Answers the id.
    Result<std::int64_t> add(const HistoryRun& run);
    // Oldest first; of every label when it is empty.
    Result<std::vector<HistoryRun>> runs(const std::string& label) const;

private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    explicit History(std::string path) : path_(std::move(path)) {}
    Status open(int flags);
    Status check();
    static Status make(const std::string& path, const std::function<void(const std::string&)>& announce);
    Error error_of(int code) const;
    Status run_all(const char* statements) const;

    std::string path_;
    std::unique_ptr<sqlite3, Close> database_;  // none: there is no file
    bool new_ = false;                          // there is nothing in it yet
};

// The last `most` runs with this key, oldest first.
std::vector<HistoryRun> comparable(const std::vector<HistoryRun>& runs, const HistoryKey& key, std::size_t most);

// Of the machine that `machine` names, or that the recording does, or that this is.
HistoryKey key_of(const Run& run, const std::string& label, const std::string& machine);

ResultTable history_table(const std::vector<HistoryRun>& runs);

}  // namespace gpuprof::compare
