// How a virtual table answers one part of a query: chosen by SQLite's planner once (xBestIndex), carried as text, and followed for
// each run of the part (xFilter). What a plan narrows is narrowed for speed only: SQLite checks every row again, so a value of an
// unexpected type makes a scan slower and never wrong.
#pragma once

#include <string>
#include <vector>

#include "core/query/row_order.h"

struct sqlite3_index_info;

namespace gpuprof {

inline constexpr int kRowid = -1;  // in place of a column; rows count from 1

struct ScanPlan {
    // One value that SQLite gives: = < [ > ] as in SQL ([ is <=), L LIKE, G GLOB, @ equal to a value of another table's row.
    struct Term {
        char op;
        int column;
    };
    std::vector<Term> terms;    // in the order of the values
    std::vector<SortKey> keys;  // order in which rows are wanted; empty: as they lie

    std::string text() const;
    static ScanPlan of_text(const char* text);
};

// The best plan for what SQLite asks, which is told of it. `values` are null while they are not computed.
ScanPlan make_plan(const Frame& shape, const Frame* values, sqlite3_index_info* asked);

}  // namespace gpuprof
