#include "present/query/scan_plan.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace gpuprof::inline query {
namespace {

constexpr double kRowsOfAnalysis = 100;   // estimate for an analysis that has not run
constexpr double kRowsOfRange = 0.25;     // share of rows that pass one range bound
constexpr double kRowsOfMatch = 0.05;     // share of rows that pass an equality or a pattern
constexpr double kRowsOfText = 1.0 / 64;  // share of rows with one text of a join

std::optional<char> operator_of(unsigned char op) {
    switch (op) {
        case SQLITE_INDEX_CONSTRAINT_EQ: return '=';
        case SQLITE_INDEX_CONSTRAINT_LT: return '<';
        case SQLITE_INDEX_CONSTRAINT_LE: return '[';
        case SQLITE_INDEX_CONSTRAINT_GT: return '>';
        case SQLITE_INDEX_CONSTRAINT_GE: return ']';
        case SQLITE_INDEX_CONSTRAINT_LIKE: return 'L';
        case SQLITE_INDEX_CONSTRAINT_GLOB: return 'G';
        default: return std::nullopt;
    }
}

// The term for a constraint; absent if it would not speed up the scan.
std::optional<ScanPlan::Term> term_of(const Frame& shape, sqlite3_index_info* asked, int at) {
    const auto& constraint = asked->aConstraint[at];
    std::optional<char> op = operator_of(constraint.op);
    if (!constraint.usable || !op) return std::nullopt;
    int column = constraint.iColumn;
    bool in_order = column == kRowid || (shape.sorted_by && static_cast<std::size_t>(column) == *shape.sorted_by);
    bool pattern = *op == 'L' || *op == 'G';
    if (*op != '=' && !pattern) return in_order ? std::optional(ScanPlan::Term{*op, column}) : std::nullopt;
    if (column == kRowid) return pattern ? std::nullopt : std::optional(ScanPlan::Term{*op, column});
    const FrameColumn& wanted = shape.columns[static_cast<std::size_t>(column)];
    if (wanted.type == FrameType::f64 || wanted.type == FrameType::end || (pattern && wanted.type != FrameType::text))
        return std::nullopt;
    if (pattern) return ScanPlan::Term{*op, column};
    if (sqlite3_stricmp(sqlite3_vtab_collation(asked, at), "BINARY") != 0) return std::nullopt;
    sqlite3_value* known = nullptr;
    bool constant = sqlite3_vtab_rhs_value(asked, at, &known) == SQLITE_OK;
    return ScanPlan::Term{constant ? '=' : '@', column};
}

// The share of rows that pass a term.
double share_of(const Frame& shape, const ScanPlan::Term& term, double rows) {
    if (term.op == '@')
        return shape.columns[static_cast<std::size_t>(term.column)].type == FrameType::text ? kRowsOfText : 2 / rows;
    if (term.op == '=' && term.column == kRowid) return 1 / rows;
    return term.op == '=' || term.op == 'L' || term.op == 'G' ? kRowsOfMatch : kRowsOfRange;
}

// Whether the rows can be returned in the requested order; `keys` is then the sort order needed.
bool plan_order(const Frame& shape, const Frame* values, const sqlite3_index_info* asked, std::vector<SortKey>& keys) {
    if (asked->nOrderBy == 0) return false;
    const auto& first = asked->aOrderBy[0];
    bool natural = first.iColumn == kRowid || (shape.sorted_by && first.iColumn == static_cast<int>(*shape.sorted_by));
    if (natural) return asked->nOrderBy == 1 && !first.desc;
    for (int i = 0; i < asked->nOrderBy; ++i) {
        const auto& by = asked->aOrderBy[i];
        if (values == nullptr || by.iColumn < 0 || !can_sort_by(*values, static_cast<std::size_t>(by.iColumn))) {
            keys.clear();
            return false;
        }
        keys.push_back({static_cast<std::size_t>(by.iColumn), by.desc != 0});
    }
    return true;
}

}  // namespace

std::string ScanPlan::text() const {
    std::string out;
    for (const Term& term : terms) out += fmt::format("{}{} ", term.op, term.column);
    for (const SortKey& key : keys) out += fmt::format("{}{} ", key.descending ? '-' : '+', key.column);
    return out;
}

ScanPlan ScanPlan::of_text(const char* text) {
    ScanPlan plan;
    std::string_view rest = text == nullptr ? "" : text;
    while (!rest.empty()) {
        char op = rest.front();
        std::size_t end = rest.find(' ');
        int column = 0;
        std::from_chars(rest.data() + 1, rest.data() + end, column);
        rest.remove_prefix(end + 1);
        if (op == '+' || op == '-')
            plan.keys.push_back({static_cast<std::size_t>(column), op == '-'});
        else
            plan.terms.push_back({op, column});
    }
    return plan;
}

ScanPlan make_plan(const Frame& shape, const Frame* values, sqlite3_index_info* asked) {
    ScanPlan plan;
    double rows = values == nullptr ? kRowsOfAnalysis : std::max<double>(1, static_cast<double>(values->rows));
    double left = rows;
    bool joined = false;
    for (int at = 0; at < asked->nConstraint; ++at) {
        std::optional<ScanPlan::Term> term = term_of(shape, asked, at);
        if (!term) continue;
        plan.terms.push_back(*term);
        asked->aConstraintUsage[at].argvIndex = static_cast<int>(plan.terms.size());
        left *= share_of(shape, *term, rows);
        joined |= term->op == '@' || (term->op == '=' && term->column == kRowid);
    }
    asked->orderByConsumed = plan_order(shape, values, asked, plan.keys) ? 1 : 0;
    left = std::max(left, 1.0);
    asked->estimatedRows = static_cast<sqlite3_int64>(left);
    asked->estimatedCost = joined ? 10 + left : rows * 0.5 + left;
    return plan;
}

}  // namespace gpuprof::query
