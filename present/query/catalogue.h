// The relations of a query: the tables and the analyses of one trace, each under its name. An analysis runs on first
// use. If a table already has the name (memcpy, memset), the analysis is called NAME_summary: the table keeps the plain
// name because joins need its rows.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "analyze/tables/analysis.h"
#include "present/query/frame.h"

namespace gpuprof::inline query {

struct Relation {
    std::string name;
    std::string_view doc;
    Frame shape;                         // names and types of the columns; for a table also its values
    const Analysis* analysis = nullptr;  // null for a table of the trace
    std::unique_ptr<OwnedFrame> answer;  // result of an analysis that ran
};

class Catalogue {
public:
    // `trace` must outlive the catalogue. Tables hold the whole of it; analyses cover the part that `report` shows, or the `whole`.
    Catalogue(const Trace& trace, Options options, bool whole = false);

    const Trace& trace() const { return facts_.trace(); }
    const std::deque<Relation>& relations() const { return relations_; }
    Relation* find(std::string_view name);
    // The columns with their values. Thread-safe.
    Result<const Frame*> values(Relation& relation);

private:
    const Facts& facts_of_analyses();

    Facts facts_;
    bool whole_;
    std::optional<Trace> part_;
    std::unique_ptr<Facts> facts_of_part_;  // null: the part is all
    std::deque<Relation> relations_;
    std::mutex running_;
};

// The name of an analysis in SQL.
std::string sql_name(const Analysis& analysis);

}  // namespace gpuprof::query
