// What the server of `view` shows: documents, and what answers SQL over them. Functions and interfaces, so that the
// service depends neither on files nor on SQLite.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/http/endpoint.h"
#include "core/base/result.h"
#include "core/model/interval.h"
#include "present/view/document.h"

namespace gpuprof::inline cli {

// What a job knows of the recordings of its ranks; without functions, there are none.
struct RankPages {
    std::function<std::vector<std::int32_t>()> openable = {};
    std::function<std::optional<Interval>(std::int32_t rank, std::int64_t step)> step = {};
    std::function<Result<std::shared_ptr<const ViewDocument>>(std::int32_t rank)> open = {};
};

// SQL over one document: the requests below /sql.
class SqlPages {
public:
    virtual ~SqlPages() = default;
    // `path` is what follows "/sql".
    virtual HttpReply answer(const HttpRequest& request, std::string_view path) = 0;
    // Whether a query is running; destruction waits for it.
    virtual bool busy() const = 0;
};
using MakeSqlPages = std::function<std::unique_ptr<SqlPages>(const Trace&)>;

struct ViewContent {
    ViewPair pair;
    RankPages ranks = {};
    MakeSqlPages sql = {};  // empty: SQL is not available
    bool whole = true;      // else the answer is still being computed, by threads, and SQL would fork
};

}  // namespace gpuprof::cli
