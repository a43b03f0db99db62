// Summaries of recordings in a small SQLite file, to compare a run with earlier ones:
//
//   run    id, added_at (UTC), label, machine, hardware, tool, file
//   value  run, metric, value       one row per metric that the run has, by the names of metrics.def
//
// Runs are comparable if label, machine, hardware and tool are equal. Several processes may add at once: each addition
// waits for others and replaces the file whole (history_file.h), so a kill leaves the one before. A file that is damaged
// or not ours is never replaced.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/history_file.h"
#include "core/base/files/sqlite_statement.h"
#include "core/base/result.h"
#include "core/model/result_table.h"

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
    using Announce = std::function<void(const std::string&)>;  // as in OutputOptions

    // Creates the file if necessary, complete and private to its owner. Others wait until this History ends.
    static Result<History> open_to_add(const std::string& path, const Announce& announce = {});
    // Never creates or changes a file. A missing one is a history without runs.
    static Result<History> open_to_read(const std::string& path);

    // Assigns id and time, and writes the file. Returns the id.
    Result<std::int64_t> add(const HistoryRun& run);
    // Oldest first; of every label if it is empty.
    Result<std::vector<HistoryRun>> runs(const std::string& label) const;

private:
    explicit History(std::string path) : path_(std::move(path)) {}
    Status load(const std::string& bytes);
    Status check();
    Result<std::string> bytes() const;
    Error error_of(int code) const;
    Status run_all(const char* statements) const;

    std::string path_;
    std::optional<HistoryFile> file_;  // that will be replaced
    Announce announce_;
    SqliteDatabase database_;  // in memory; null: the file does not exist
    bool new_ = false;         // the file is still empty
};

// The last `most` runs with this key, oldest first.
std::vector<HistoryRun> comparable(const std::vector<HistoryRun>& runs, const HistoryKey& key, std::size_t max_runs);

// The machine is `machine` if given, else the one in the recording, else this one.
HistoryKey key_of(const Run& run, const std::string& label, const std::string& machine);

ResultTable history_table(const std::vector<HistoryRun>& runs);

}  // namespace gpuprof::compare
