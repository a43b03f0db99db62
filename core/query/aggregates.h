// SQL aggregate functions that SQLite lacks.
#pragma once

struct sqlite3_context;
struct sqlite3_value;

namespace gpuprof::inline query {

struct Aggregate {
    void (*step)(sqlite3_context*, int, sqlite3_value**);
    void (*final)(sqlite3_context*);
};

extern const Aggregate kStddev;
extern const Aggregate kBusy;        // (start, end): length of the union
extern const Aggregate kPercentile;  // (value, p) or (value): nearest rank

}  // namespace gpuprof::query
