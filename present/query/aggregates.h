// SQL aggregate functions that SQLite lacks.
#pragma once

#include <cstddef>

struct sqlite3_context;
struct sqlite3_value;

namespace gpuprof::inline query {

// The bytes of values that the aggregates of a connection hold: together at most 512 MiB, so that no query exhausts the memory.
// Each function's user data (sqlite3_user_data) is the budget of its connection.
class AggregateBudget {
public:
    bool take(std::size_t bytes) {
        if (bytes > kMost - held_) return false;
        held_ += bytes;
        return true;
    }
    void give_back(std::size_t bytes) { held_ -= bytes; }

private:
    static constexpr std::size_t kMost = std::size_t{512} << 20;
    std::size_t held_ = 0;
};

struct Aggregate {
    void (*step)(sqlite3_context*, int, sqlite3_value**);
    void (*final)(sqlite3_context*);
};

// Inside a catch clause: C++ exceptions must not propagate through SQLite.
void result_of_exception(sqlite3_context* context) noexcept;

extern const Aggregate kStddev;
extern const Aggregate kBusy;        // (start, end): length of the union
extern const Aggregate kPercentile;  // (value, p) or (value): nearest rank

}  // namespace gpuprof::query
