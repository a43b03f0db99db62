// Analyses of a recording as tables, for commands that are a part of `report`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyze/facts/facts.h"
#include "core/base/result.h"
#include "core/model/trace.h"
#include "core/schema/options.h"
#include "core/schema/read_limits.h"

namespace gpuprof::inline cli {

struct AnalysisRequest {
    std::string file;
    std::vector<std::string> analyses;
    std::string format = "text";
    std::string output = "-";
    bool verbose = false;  // all of the first answer
    Options options;
    ReadLimits limits;
};

// What `report FILE ANALYSIS...` does.
Result<ExitCode> report_analyses(const AnalysisRequest& request);
// The same of a trace that was read already; the request's file is not used. `judge` sees the facts of the answer, after
// it was written.
Result<ExitCode> report_trace(Trace trace, const AnalysisRequest& request,
                              const std::function<void(const Facts&)>& judge = {});

// The first answer of a trace as text, for commands that end with it.
Result<std::string> first_answer_text(Trace trace);

}  // namespace gpuprof::cli
