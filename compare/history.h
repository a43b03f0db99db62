// Summaries of recordings in a small SQLite file, to compare a run with earlier ones:
//
//   run    id, added_at (UTC), label, machine, hardware, tool, file
//   value  run, metric, value       one row per metric that the run has, by the names of metrics.def
//
// Runs are comparable if label, machine, hardware and tool are equal. Several processes may add at once: each addition
// is one transaction and waits for others; SQLite's journal undoes one that a kill interrupts. A file that is damaged
// or not ours is never written to.
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
    // Creates the file if necessary, complete and private to its owner. `announce` as in OutputOptions.
    static Result<History> open_to_add(const std::string& path,
                                       const std::function<void(const std::string&)>& announce = {});
    // Never creates the file, and changes it only to undo an addition that a killed process left half done. A missing
    // file is a history without runs.
    static Result<History> open_to_read(const std::string& path);

    // Assigns id and time. Returns the id.
    Result<std::int64_t> add(const HistoryRun& run);
    // Oldest first; of every label if it is empty.
    Result<std::vector<HistoryRun>> runs(const std::string& label) const;

private:
    struct DatabaseCloser {
        void operator()(sqlite3* database) const;
    };
    explicit History(std::string path) : path_(std::move(path)) {}
    Status open(int flags);
    Status check();
    static Status make(const std::string& path, const std::function<void(const std::string&)>& announce);
    Error error_of(int code) const;
    Status run_all(const char* statements) const;

    std::string path_;
    std::unique_ptr<sqlite3, DatabaseCloser> database_;  // null: the file does not exist
    bool new_ = false;                                   // the file is still empty
};

// The last `most` runs with this key, oldest first.
std::vector<HistoryRun> comparable(const std::vector<HistoryRun>& runs, const HistoryKey& key, std::size_t max_runs);

// The machine is `machine` if given, else the one in the recording, else this one.
HistoryKey key_of(const Run& run, const std::string& label, const std::string& machine);

ResultTable history_table(const std::vector<HistoryRun>& runs);

}  // namespace gpuprof::compare
