// What a query can ask: the tables of one trace, and the analyses of it, each under its own name. An analysis is run when it is
// asked for the first time. Where a table has the name already (memcpy, memset), the analysis is NAME_summary: rows come
// before their sums, and joins need the rows.
#pragma once

#include <deque>
#include <mutex>

#include "core/analyze/tables/analysis.h"
#include "core/query/frame.h"

namespace gpuprof {

struct Relation {
    std::string name;
    std::string_view doc;
    Frame shape;                         // names and types of the columns; of a table also its values
    const Analysis* analysis = nullptr;  // null: a table of the trace
    std::unique_ptr<OwnedFrame> answer;  // of an analysis that ran
};

class Catalogue {
public:
    // `trace` must outlive the catalogue.
    Catalogue(const Trace& trace, Options options);

    const Trace& trace() const { return study_.trace(); }
    const std::deque<Relation>& relations() const { return relations_; }
    Relation* find(std::string_view name);
    // The columns with their values. For several threads.
    Result<const Frame*> values(Relation& relation);

private:
    Facts study_;
    std::deque<Relation> relations_;
    std::mutex running_;
};

// The name under which SQL knows an analysis.
std::string sql_name(const Analysis& analysis);

}  // namespace gpuprof
