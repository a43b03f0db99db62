#include "compare/step_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::compare {
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
