// See the header. kKinds lists which columns identify and compare the rows of each analysis, one line per analysis.
#include "compare/comparison_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyze/tables/cells.h"
#include "present/answer/analyses.h"

namespace gpuprof::compare {
namespace {

struct Kind {
    std::string_view analysis;
    std::string_view keys;  // columns that identify a row, separated by blanks
    std::string_view count, time;
};
constexpr Kind kKinds[] = {
    {"ops", "name", "count", "device_total_ns"},    {"ranges", "path", "count", "host_total_ns"},
    {"devices", "device", "kernels", "busy_ns"},    {"memcpy", "kind src dst", "count", "total_ns"},
    {"memset", "memory_kind", "count", "total_ns"}, {"api", "name", "count", "total_ns"},
    {"idle", "device cause", "count", "total_ns"},  {"collectives", "name bytes", "count", "total_ns"},
    {"streams", "device stream", "ops", "busy_ns"},
};

const Kind* kind_of(std::string_view analysis) {
    const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                     [analysis](const Kind& kind) { return kind.analysis == analysis; });
    return found == std::end(kKinds) ? nullptr : found;
}

std::string text_of(const Cell& cell) {
    if (const auto* text = std::get_if<std::string_view>(&cell)) return std::string(*text);
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return std::to_string(*integer);
    return "-";
}

std::string key_of(const ResultTable& table, std::size_t row, std::string_view keys) {
    std::string key;
    while (!keys.empty()) {
        std::string_view column = keys.substr(0, keys.find(' '));
        keys.remove_prefix(std::min(keys.size(), column.size() + 1));
        key += (key.empty() ? "" : " ") + text_of(table.cell(row, table.column(column)));
    }
    return key;
}

std::optional<double> number(const ResultTable& table, std::size_t row, std::string_view column, double over) {
    Cell cell = table.cell(row, table.column(column));
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*integer) / over;
    return std::nullopt;
}

struct RowLine {
    std::string key;
    std::optional<double> base_ns, new_ns, base_count, new_count;
    bool in_base = false, in_new = false;
    double difference() const { return new_ns.value_or(0) - base_ns.value_or(0); }
};

constexpr ResultColumn kRowsColumns[] = {
    {"name", CellType::text, Unit::none, "Name of the row in the analysis."},
    {"difference_ns", CellType::real, Unit::ns, "new_ns - base_ns."},
    {"base_ns", CellType::real, Unit::ns, "Time in BASE, per step."},
    {"new_ns", CellType::real, Unit::ns, "Time in NEW."},
    {"change_pct", CellType::real, Unit::percent, "Change relative to base_ns."},
    {"base_count", CellType::real, Unit::count, "Count in BASE, per step."},
    {"new_count", CellType::real, Unit::count, "Count in NEW."},
    {"only_in", CellType::text, Unit::none, "base or new, if the other side lacks the row."},
};

}  // namespace

std::vector<std::string_view> comparable_analyses() {
    std::vector<std::string_view> names;
    for (const Kind& kind : kKinds) names.push_back(kind.analysis);
    return names;
}

Result<ResultTable> rows_table(std::string_view analysis, const Run& base, const Run& next) {
    const Kind& kind = *kind_of(analysis);
    std::vector<RowLine> lines;
    std::map<std::pair<std::string, std::size_t>, std::size_t> place;  // key and its occurrence -> line
    std::vector<std::string> notes;
    for (const Run* run : {&base, &next}) {
        Result<ResultTable> table = find_analysis(analysis)->run(*run->facts);
        if (!table.ok()) return table.error();
        auto over = static_cast<double>(run->parts());
        std::map<std::string, std::size_t> seen;
        for (std::size_t row = 0; row < table->rows(); ++row) {
            std::string key = key_of(*table, row, kind.keys);
            auto [at, added] = place.try_emplace({key, seen[key]++}, lines.size());
            if (added) lines.emplace_back().key = key;
            RowLine& line = lines[at->second];
            bool old = run == &base;
            (old ? line.base_ns : line.new_ns) = number(*table, row, kind.time, over);
            (old ? line.base_count : line.new_count) = number(*table, row, kind.count, over);
            (old ? line.in_base : line.in_new) = true;
        }
        for (const std::string& note : table->notes)
            notes.push_back(fmt::format("{}: {}", run == &base ? "BASE" : "NEW", note));
    }
    std::stable_sort(lines.begin(), lines.end(), [](const RowLine& a, const RowLine& b) {
        return std::abs(a.difference()) > std::abs(b.difference());
    });
    ResultTable table(kind.analysis, kRowsColumns);
    for (const RowLine& line : lines)
        table.add_row({
            Cell{std::string_view(line.key)},
            Cell{line.difference()},
            real(line.base_ns),
            real(line.new_ns),
            line.base_ns && line.new_ns && *line.base_ns != 0 ? Cell{100 * (*line.new_ns / *line.base_ns - 1)}
                                                              : kAbsent,
            real(line.base_count),
            real(line.new_count),
            line.in_base && line.in_new ? kAbsent : Cell{std::string_view(line.in_base ? "base" : "new")},
        });
    table.notes = std::move(notes);
    return table;
}

namespace {

constexpr std::size_t kNone = ~std::size_t{0};

constexpr ResultColumn kStepPairsColumns[] = {
    {"name", CellType::text, Unit::none, "Name of the step; both names if they differ."},
    {"difference_ns", CellType::real, Unit::ns, "new_ns - base_ns; what is on one side only counts as 0 on the other."},
    {"base_ns", CellType::integer, Unit::ns, "Length in BASE."},
    {"new_ns", CellType::integer, Unit::ns, "Length in NEW."},
    {"change_pct", CellType::real, Unit::percent, "Change relative to base_ns."},
    {"base_start_ns", CellType::integer, Unit::ns, "Start in BASE, since the start of that recording."},
    {"new_start_ns", CellType::integer, Unit::ns, "Start in NEW, since the start of that recording."},
    {"only_in", CellType::text, Unit::none, "base or new, if the other side lacks the step."},
};

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;  // kNone: the other side has no such step

// Empty if a name repeats.
std::map<std::string_view, std::size_t> by_name(const std::vector<Step>& steps) {
    std::map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (!places.try_emplace(steps[i].name, i).second) return {};
    return places;
}

Pairs pairs_in_order(std::size_t base, std::size_t next) {
    Pairs pairs;
    for (std::size_t i = 0; i < std::max(base, next); ++i)
        pairs.emplace_back(i < base ? i : kNone, i < next ? i : kNone);
    return pairs;
}

// By name in the order of NEW; those of BASE alone follow.
Pairs pairs_of(const std::vector<Step>& base, const std::vector<Step>& next) {
    std::map<std::string_view, std::size_t> in_base = by_name(base), in_next = by_name(next);
    Pairs pairs;
    bool any = false;
    for (std::size_t i = 0; i < next.size(); ++i) {
        auto same = in_base.find(next[i].name);
        pairs.emplace_back(same == in_base.end() ? kNone : same->second, i);
        any = any || same != in_base.end();
    }
    if (!any || in_next.empty()) return pairs_in_order(base.size(), next.size());
    for (std::size_t i = 0; i < base.size(); ++i)
        if (!in_next.contains(base[i].name)) pairs.emplace_back(i, kNone);
    return pairs;
}

std::string name_of(const Step* base, const Step* next) {
    if (base == nullptr || next == nullptr) return (base != nullptr ? base : next)->name;
    return base->name == next->name ? base->name : fmt::format("{} and {}", base->name, next->name);
}

}  // namespace

Result<ResultTable> steps_table(const Run& base, const Run& next) {
    ResultTable table("steps", kStepPairsColumns);
    const std::vector<Step>&before = base.steps.steps, &after = next.steps.steps;
    for (auto [i, k] : pairs_of(before, after)) {
        const Step* old = i == kNone ? nullptr : &before[i];
        const Step* now = k == kNone ? nullptr : &after[k];
        auto length = [](const Step* step) { return step == nullptr ? 0 : step->end - step->start; };
        auto start = [](const Step* step, const Run& run) {
            return step == nullptr ? kAbsent : Cell{step->start - run.trace->zero()};
        };
        auto difference = static_cast<double>(length(now) - length(old));
        std::string name = name_of(old, now);
        table.add_row({
            Cell{std::string_view(name)},
            Cell{difference},
            old == nullptr ? kAbsent : Cell{length(old)},
            now == nullptr ? kAbsent : Cell{length(now)},
            old == nullptr || now == nullptr || length(old) == 0
                ? kAbsent
                : Cell{100 * difference / static_cast<double>(length(old))},
            start(old, base),
            start(now, next),
            old != nullptr && now != nullptr ? kAbsent : Cell{std::string_view(old != nullptr ? "base" : "new")},
        });
    }
    for (const Run* run : {&base, &next})
        if (!run->steps.note.empty())
            table.notes.push_back(fmt::format("{}: {}", run == &base ? "BASE" : "NEW", run->steps.note));
    return table;
}

}  // namespace gpuprof::compare
