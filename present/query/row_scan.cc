#include "present/query/row_scan.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace gpuprof::inline query {
namespace {

std::string_view text_of(sqlite3_value* value) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
    return {text == nullptr ? "" : text, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

// The operand of a comparison with an integer column: an integer, a value no integer equals, or one that SQLite must
// compare.
struct Wanted {
    enum { integer, nothing, unknown } kind;
    std::int64_t value = 0;
};

Wanted wanted_integer(sqlite3_value* value) {
    switch (sqlite3_value_type(value)) {
        case SQLITE_INTEGER: return {Wanted::integer, sqlite3_value_int64(value)};
        case SQLITE_NULL: return {Wanted::nothing};
        case SQLITE_FLOAT: {
            constexpr double kExact = 9e15;  // integers up to this are exact
            double real = sqlite3_value_double(value);
            if (std::fabs(real) > kExact) return {Wanted::unknown};
            if (real != std::floor(real)) return {Wanted::nothing};
            return {Wanted::integer, static_cast<std::int64_t>(real)};
        }
        default: return {Wanted::unknown};
    }
}

// The id of a text, kNoString if no row can have it; absent if SQLite must compare.
std::optional<StringId> wanted_text(const Frame& frame, sqlite3_value* value) {
    if (sqlite3_value_type(value) == SQLITE_NULL) return kNoString;
    if (sqlite3_value_type(value) != SQLITE_TEXT) return std::nullopt;
    return frame.strings->find(text_of(value));
}

// A range bound as an integer, rounded so that no value in the range is excluded.
std::optional<std::int64_t> range_end(sqlite3_value* value, char op) {
    if (sqlite3_value_type(value) == SQLITE_INTEGER) return sqlite3_value_int64(value);
    constexpr double kExact = 9e15;
    double real = sqlite3_value_double(value);
    if (sqlite3_value_type(value) != SQLITE_FLOAT || std::fabs(real) > kExact) return std::nullopt;
    bool lower = op == '>' || op == ']';
    return static_cast<std::int64_t>(lower ? std::floor(real) - 1 : std::ceil(real) + 1);
}

}  // namespace

RowScan::RowScan(const Frame& frame, const ScanPlan& plan, sqlite3_value** values, Lookups& lookups)
    : frame_(frame), last_(frame.rows) {
    for (std::size_t i = 0; i < plan.terms.size(); ++i) {
        const ScanPlan::Term& term = plan.terms[i];
        if (term.op == '@' && !has_lookup_)
            look_up(static_cast<std::size_t>(term.column), values[i], lookups);
        else
            narrow(term, values[i]);
    }
    last_ = std::max(first_, last_);
    at_ = first_, end_ = last_;
    if (has_lookup_) {
        rows_ = looked_up_.data();
        at_ = static_cast<std::size_t>(std::lower_bound(looked_up_.begin(), looked_up_.end(), first_) -
                                       looked_up_.begin());
        end_ = static_cast<std::size_t>(std::lower_bound(looked_up_.begin(), looked_up_.end(), last_) -
                                        looked_up_.begin());
    }
    skip();
    if (plan.keys.empty()) return;
    for (; !done(); next()) sorted_.push_back(row());
    sort_rows(frame_, plan.keys, sorted_);
    tests_.clear();
    rows_ = sorted_.data(), at_ = 0, end_ = sorted_.size();
}

void RowScan::skip() {
    auto passes = [this] {
        return std::all_of(tests_.begin(), tests_.end(), [this](const Test& test) { return test(row()); });
    };
    while (at_ < end_ && !passes()) ++at_;
}

void RowScan::narrow(const ScanPlan::Term& term, sqlite3_value* value) {
    if (term.column == kRowid) return narrow_rowid(term.op, value);
    auto column = static_cast<std::size_t>(term.column);
    if (term.op == '=' || term.op == '@') return match(column, value);
    if (term.op == 'L' || term.op == 'G') return match_pattern(column, term.op, value);
    narrow_sorted(frame_.columns[column], term.op, value);
}

void RowScan::narrow_rowid(char op, sqlite3_value* value) {
    if (sqlite3_value_type(value) != SQLITE_INTEGER) return;
    std::int64_t rowid = sqlite3_value_int64(value), rows = static_cast<std::int64_t>(frame_.rows);
    auto before = [&](std::int64_t row) { return static_cast<std::size_t>(std::clamp<std::int64_t>(row, 0, rows)); };
    std::int64_t row = rowid < 1 ? -1 : std::min(rowid - 1, rows);
    if (op == '=' || op == ']' || op == '>') first_ = std::max(first_, before(row));
    if (op == '=' || op == '[' || op == '<') last_ = std::min(last_, before(row + 1));
}

void RowScan::narrow_sorted(const FrameColumn& column, char op, sqlite3_value* value) {
    std::optional<std::int64_t> end = range_end(value, op);
    if (!end || column.values == nullptr) return;
    const auto* times = static_cast<const std::int64_t*>(column.values);
    auto place = [&](const std::int64_t* found) { return static_cast<std::size_t>(found - times); };
    if (op == '>') first_ = std::max(first_, place(std::upper_bound(times, times + frame_.rows, *end)));
    if (op == ']') first_ = std::max(first_, place(std::lower_bound(times, times + frame_.rows, *end)));
    if (op == '<') last_ = std::min(last_, place(std::lower_bound(times, times + frame_.rows, *end)));
    if (op == '[') last_ = std::min(last_, place(std::upper_bound(times, times + frame_.rows, *end)));
}

void RowScan::match(std::size_t at, sqlite3_value* value) {
    const FrameColumn& column = frame_.columns[at];
    if (column.type == FrameType::text) {
        std::optional<StringId> id = wanted_text(frame_, value);
        if (!id) return;
        if (*id == kNoString) return void(last_ = 0);
        return tests_.push_back([&column, id = *id](Row row) { return column.has(row) && column.text(row) == id; });
    }
    Wanted wanted = wanted_integer(value);
    if (wanted.kind == Wanted::nothing) last_ = 0;
    if (wanted.kind == Wanted::integer)
        tests_.push_back([&column, wanted](Row row) { return column.has(row) && column.integer(row) == wanted.value; });
}

// Matches each text once, however many rows have it.
void RowScan::match_pattern(std::size_t at, char op, sqlite3_value* value) {
    if (sqlite3_value_type(value) != SQLITE_TEXT) return;
    enum : char { unknown, yes, no };
    const FrameColumn& column = frame_.columns[at];
    auto known = std::make_shared<std::vector<char>>(frame_.strings->size(), unknown);
    tests_.push_back([this, &column, known, op, pattern = std::string(text_of(value))](Row row) {
        if (!column.has(row)) return false;
        StringId id = column.text(row);
        char& judged = (*known)[index_of(id)];
        if (judged == unknown) {
            std::string text((*frame_.strings)[id]);
            int differs = op == 'L' ? sqlite3_strlike(pattern.c_str(), text.c_str(), 0)
                                    : sqlite3_strglob(pattern.c_str(), text.c_str());
            judged = differs == 0 ? yes : no;
        }
        return judged == yes;
    });
}

void RowScan::look_up(std::size_t at, sqlite3_value* value, Lookups& lookups) {
    const FrameColumn& column = frame_.columns[at];
    std::int64_t key = 0;
    if (column.type == FrameType::text) {
        std::optional<StringId> id = wanted_text(frame_, value);
        if (!id) return;
        if (*id == kNoString) return void(last_ = 0);
        key = index_of(*id);
    } else {
        Wanted wanted = wanted_integer(value);
        if (wanted.kind == Wanted::unknown) return;
        if (wanted.kind == Wanted::nothing) return void(last_ = 0);
        key = wanted.value;
    }
    std::unique_ptr<RowsByValue>& lookup = lookups[at];
    if (!lookup) lookup = std::make_unique<RowsByValue>(frame_, column);
    looked_up_ = lookup->rows(key);
    has_lookup_ = true;
}

}  // namespace gpuprof::query
