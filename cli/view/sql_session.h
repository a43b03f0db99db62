// SQL over one recording for the page: one query at a time, in a process of its own (query_process.h), so that the server goes on
// answering. A query is read-only (present/query/sql.h), and bounded in time, memory, rows and bytes of its answer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/view/query_process.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "present/query/sql.h"

namespace gpuprof::inline cli {

inline constexpr std::size_t kMaxSqlBytes = 64 * 1024;               // of a query
inline constexpr std::int64_t kMaxSqlRows = 10'000;                  // of an answer
inline constexpr std::size_t kMaxSqlAnswerBytes = 16 * 1024 * 1024;  // of an answer as JSON; its last row may exceed it
inline constexpr std::chrono::seconds kSqlTimeLimit{30};

class SqlSession {
public:
    // `trace` must outlive the session.
    explicit SqlSession(const Trace& trace) : catalogue_(trace, {}) {}
    // Cancels the running query and waits for its end.
    ~SqlSession();
    SqlSession(const SqlSession&) = delete;
    SqlSession& operator=(const SqlSession&) = delete;

    // Begins a query and returns its number; an error while another one is running. Always from the same thread.
    Result<std::int64_t> start(std::string sql);
    // {"state", ...} of the latest query; absent for any other number.
    std::optional<std::string> state_json(std::int64_t number) const;
    // Has no effect on other queries than the latest.
    void cancel(std::int64_t number);
    bool running() const { return running_; }
    // Tables, analyses, columns and functions, and the limits.
    std::string schema_json() const;

private:
    void run(const std::string& sql) noexcept;
    Result<std::string> answer(const std::string& sql);

    Catalogue catalogue_;  // the process answers from its copy
    std::unique_ptr<QueryProcess> process_;
    std::thread thread_;  // waits for the answer
    std::int64_t number_ = 0;
    TimeNs started_ = 0;
    std::atomic<bool> running_ = false, cancelled_ = false;
    mutable std::mutex mutex_;  // guards what follows
    DurNs took_ = 0;
    std::optional<Result<std::string>> answer_;
};

}  // namespace gpuprof::cli
