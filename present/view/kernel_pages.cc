#include "present/view/kernel_pages.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "analyze/facts/kernels/counter_match.h"
#include "core/base/text/function_name.h"
#include "present/report/report.h"

namespace gpuprof::inline view {
namespace {

// Analyses with a row or more per launch, in the order of the page.
constexpr std::string_view kOfLaunches[] = {"advice",   "stalls",  "occupancy_curves",
                                            "roofline", "metrics", "tool_advice"};
// Analyses with rows per kernel name: samples do not know their launch.
constexpr std::string_view kOfNames[] = {"source", "line_stalls"};

const ResultTable* find(std::span<const ResultTable> tables, std::string_view name) {
    for (const ResultTable& table : tables)
        if (table.name() == name) return &table;
    return nullptr;
}

using Rows = std::vector<std::size_t>;

template <class Key>
struct RowsBy {
    const ResultTable* table;
    std::map<Key, Rows> rows = {};

    RowsBy(const ResultTable* of, std::string_view by) : table(of) {
        const std::size_t column = of->column(by);
        if (column == of->columns().size()) return;
        for (std::size_t row = 0; row < of->rows(); ++row)
            if (Cell cell = of->cell(row, column); const auto* key = std::get_if<Key>(&cell)) rows[*key].push_back(row);
    }
    ResultTable part_of(const std::optional<Key>& key) const {
        auto found = key ? rows.find(*key) : rows.end();
        ResultTable part(table->name(), table->columns());
        std::vector<Cell> cells(table->columns().size());
        for (std::size_t row : found == rows.end() ? Rows() : found->second) {
            for (std::size_t column = 0; column < cells.size(); ++column) cells[column] = table->cell(row, column);
            part.add_row(cells);
        }
        if (table->rows() == 0) part.notes = table->notes;  // why there are none
        return part;
    }
};

using RowsByLaunch = RowsBy<std::int64_t>;
using RowsByName = RowsBy<std::string_view>;

template <class T>
std::optional<T> value_of(const ResultTable& table, std::size_t row, std::string_view column) {
    Cell cell = table.cell(row, table.column(column));
    const T* value = std::get_if<T>(&cell);
    return value == nullptr ? std::nullopt : std::optional(*value);
}

// The names in a table, and which of them means a kernel; tools spell names differently.
class Names {
public:
    explicit Names(const ResultTable* table) {
        if (table == nullptr) return;
        for (std::size_t row = 0; row < table->rows(); ++row) {
            std::optional<std::string_view> name = value_of<std::string_view>(*table, row, "name");
            if (!name || !seen_.insert(*name).second) continue;
            names_.push_back(*name);
            by_short_name_[short_name(*name)].push_back({*name, demangled(*name)});
        }
    }
    std::optional<std::string_view> same_as(std::string_view kernel) const {
        auto same_name = by_short_name_.find(short_name(kernel));
        if (same_name == by_short_name_.end()) return std::nullopt;
        std::vector<std::string_view> candidates;
        for (const Name& each : same_name->second) candidates.push_back(each.readable);
        std::size_t found = same_kernel(demangled(kernel), candidates);
        return found == CounterMatch::kNone ? std::nullopt : std::optional(same_name->second[found].name);
    }
    const std::vector<std::string_view>& all() const { return names_; }  // in the order of the table

private:
    struct Name {
        std::string_view name;
        std::string readable;
    };
    std::vector<std::string_view> names_;
    std::set<std::string_view> seen_;
    std::map<std::string, std::vector<Name>> by_short_name_;
};

SampledKernel sampled_kernel(const ResultTable& source, const RowsByName& rows, std::string_view name,
                             std::size_t page) {
    SampledKernel kernel{.name = std::string(name), .page = page};
    for (std::size_t row : rows.rows.at(name)) {
        kernel.samples += value_of<std::int64_t>(source, row, "samples").value_or(0);
        kernel.share_pct += value_of<double>(source, row, "share_pct").value_or(0);
    }
    return kernel;
}

class Pages {
public:
    explicit Pages(std::span<const ResultTable> tables)
        : source_(find(tables, "source")),
          functions_(source_),
          timeline_(functions_.all().empty() ? nullptr : find(tables, "kernels")) {
        for (std::string_view name : kOfLaunches)
            if (const ResultTable* table = find(tables, name)) of_launches_.emplace_back(table, "launch");
        for (std::string_view name : kOfNames)
            if (const ResultTable* table = find(tables, name)) of_names_.emplace_back(table, "name");
    }
    void add_measured(const ResultTable& limits, std::size_t row) {
        std::optional<std::string_view> name = value_of<std::string_view>(limits, row, "name");
        std::optional<std::string_view> function = name ? functions_.same_as(*name) : std::nullopt;
        if (function) page_of_.emplace(*function, found.pages.size());
        add(value_of<std::int64_t>(limits, row, "launch"), function);
    }
    void add_sampled() {
        for (std::string_view name : functions_.all()) {
            auto [page, without] = page_of_.emplace(name, found.pages.size());
            if (without) add(std::nullopt, name);
            found.sampled.push_back(sampled_kernel(*source_, of_names_.front(), name, page->second));
            found.sampled.back().timeline = timeline_.same_as(name).value_or("");
        }
        std::stable_sort(found.sampled.begin(), found.sampled.end(),
                         [](const SampledKernel& a, const SampledKernel& b) { return a.samples > b.samples; });
    }

    KernelPages found;

private:
    void add(const std::optional<std::int64_t>& launch, const std::optional<std::string_view>& function) {
        std::vector<ResultTable> parts;
        for (const RowsByLaunch& each : of_launches_) parts.push_back(each.part_of(launch));
        for (const RowsByName& each : of_names_) parts.push_back(each.part_of(function));
        StringSink sink;
        write_tables_json(parts, sink);
        found.pages.push_back(sink.text());
    }

    const ResultTable* source_;
    Names functions_, timeline_;
    std::vector<RowsByLaunch> of_launches_;
    std::vector<RowsByName> of_names_;
    std::map<std::string_view, std::size_t> page_of_;
};

}  // namespace

KernelPages kernel_pages(std::span<const ResultTable> tables) {
    Pages pages(tables);
    if (const ResultTable* limits = find(tables, "limits"))
        for (std::size_t row = 0; row < limits->rows(); ++row) pages.add_measured(*limits, row);
    pages.add_sampled();
    return std::move(pages.found);
}

}  // namespace gpuprof::view
