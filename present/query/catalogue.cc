#include "present/query/catalogue.h"

#include <algorithm>

#include "analyze/facts/steps/phases.h"
#include "analyze/facts/steps/steady_part.h"
#include "core/model/select_interval.h"
#include "present/answer/analyses.h"

namespace gpuprof::inline query {
namespace {

// Returns all rows: row limits are for display, and a query has its own limit.
Options without_limit(Options options) {
    options.limit = 0;
    return options;
}

Frame shape_of(const Analysis& analysis) {
    Frame shape;
    for (const ResultColumn& column : analysis.columns) {
        FrameColumn& added = shape.columns.emplace_back();
        added.name = column.name, added.type = frame_type(column.type), added.unit = column.unit;
        added.doc = column.doc;
    }
    return shape;
}

}  // namespace

std::string sql_name(const Analysis& analysis) {
    std::span<const TableSpec> tables = table_specs();
    bool taken =
        std::any_of(tables.begin(), tables.end(), [&](const TableSpec& table) { return table.name == analysis.name; });
    return std::string(analysis.name) + (taken ? "_summary" : "");
}

Catalogue::Catalogue(const Trace& trace, Options options, bool whole)
    : facts_(trace, without_limit(std::move(options))), whole_(whole) {
    trace.tables().each_table([&](const TableSpec& spec, const auto& table) {
        Relation& relation = relations_.emplace_back();
        relation.name = spec.name, relation.doc = spec.doc, relation.shape = frame_of(trace, table);
    });
    for (const Analysis* analysis : analyses()) {
        Relation& relation = relations_.emplace_back();
        relation.name = sql_name(*analysis), relation.doc = analysis->doc, relation.analysis = analysis;
        relation.shape = shape_of(*analysis);
    }
}

Relation* Catalogue::find(std::string_view name) {
    auto found = std::find_if(relations_.begin(), relations_.end(), [&](const Relation& r) { return r.name == name; });
    return found == relations_.end() ? nullptr : &*found;
}

const Facts& Catalogue::facts_of_analyses() {
    if (facts_of_part_ != nullptr) return *facts_of_part_;
    std::optional<Interval> part;
    if (!whole_) part = interval_for_first_answer(facts_);
    if (!part) return facts_;
    part_ = select_interval(copy_of(facts_.trace()), *part);
    facts_of_part_ = std::make_unique<Facts>(*part_, facts_.options());
    facts_of_part_->put(facts_.get<Phases>());
    return *facts_of_part_;
}

Result<const Frame*> Catalogue::values(Relation& relation) {
    if (relation.analysis == nullptr) return &relation.shape;
    std::scoped_lock lock(running_);
    if (!relation.answer) {
        Result<ResultTable> table =
            relation.analysis->run(relation.analysis->traits.of_whole ? facts_ : facts_of_analyses());
        if (!table.ok()) return table.error();
        relation.answer = frame_of(*table);
    }
    return &relation.answer->frame();
}

}  // namespace gpuprof::query
