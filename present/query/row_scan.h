// One scan over the rows of a frame, following a plan.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>

#include "present/query/scan_plan.h"

struct sqlite3_value;

namespace gpuprof::inline query {

// Lookup tables for joins, per column; kept for the life of a connection.
using Lookups = std::map<std::size_t, std::unique_ptr<RowsByValue>>;

class RowScan {
public:
    // `values` in the order of the plan's terms, valid only during this call.
    RowScan(const Frame& frame, const ScanPlan& plan, sqlite3_value** values, Lookups& lookups);

    bool done() const { return at_ >= end_; }
    Row row() const { return rows_ == nullptr ? static_cast<Row>(at_) : rows_[at_]; }
    void next() {
        ++at_;
        if (!tests_.empty()) skip();
    }

private:
    using Test = std::function<bool(Row)>;
    void narrow(const ScanPlan::Term& term, sqlite3_value* value);
    void narrow_rowid(char op, sqlite3_value* value);
    void narrow_sorted(const FrameColumn& column, char op, sqlite3_value* value);
    void match(std::size_t column, sqlite3_value* value);
    void match_pattern(std::size_t column, char op, sqlite3_value* value);
    void look_up(std::size_t column, sqlite3_value* value, Lookups& lookups);
    void skip();

    const Frame& frame_;
    std::size_t first_ = 0, last_;  // rows, before lookups
    const Row* rows_ = nullptr;     // null: at_ is the row
    std::size_t at_ = 0, end_ = 0;  // rows, or places in rows_
    std::span<const Row> looked_up_;
    bool has_lookup_ = false;
    std::vector<Test> tests_;
    PodVector<Row> sorted_;
};

}  // namespace gpuprof::query
