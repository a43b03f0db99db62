// How a virtual table answers one part of a query: chosen once by SQLite's planner (xBestIndex), passed as text, and
// executed on each run of the part (xFilter). A plan filters rows only for speed: SQLite checks every row again, so a
// value of an unexpected type makes a scan slower but never wrong.
#pragma once

#include <string>
#include <vector>

#include "present/query/row_order.h"

struct sqlite3_index_info;

namespace gpuprof::inline query {

inline constexpr int kRowid = -1;  // in place of a column; rows are numbered from 1

struct ScanPlan {
    // One constraint whose value SQLite supplies: = < [ > ] as in SQL ([ is <=), L LIKE, G GLOB, @ equal to a value of
    // another table's row.
    struct Term {
        char op;
        int column;
    };
    std::vector<Term> terms;    // in the order of the values
    std::vector<SortKey> keys;  // requested row order; empty: storage order

    std::string text() const;
    static ScanPlan of_text(const char* text);
};

// Chooses the best plan for SQLite's request and reports it there. `values` are null until computed.
ScanPlan make_plan(const Frame& shape, const Frame* values, sqlite3_index_info* asked);

}  // namespace gpuprof::query
