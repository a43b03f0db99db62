// Recordings in the form of the viewer, for `view` and `export html`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/privacy/private_paths.h"
#include "core/schema/read_limits.h"
#include "present/view/document.h"

namespace gpuprof::inline cli {

inline constexpr char kBaseDoc[] = "Compare with this earlier recording of the same program.";
inline constexpr char kSourcesDoc[] = "Folder of source files whose lines the page shows beside their samples.";

// `files` are one recording, as for open_trace(). The page may be shared, so the trace names no folders; messages show
// paths as the user typed them.
Result<Trace> open_for_page(const std::vector<std::string>& files, const ReadLimits& limits);

struct PairChoice {
    std::string name;          // of the trace, in messages
    std::string base = {};     // a recording to compare with; "" for none
    std::string sources = {};  // the folder of the source files whose lines the page shows; "" shows none
    ReadLimits limits = {};
    StepDetail detail = StepDetail::slowest;
    StageReport on_stage = {};
    std::optional<PrivateNames> hidden = {};  // what the page must not name, if it may be sent to others
};

// `timeline`: the events of a job, whose summaries `trace` has.
Result<ViewPair> view_pair(Trace trace, const PairChoice& choice, std::optional<Trace> timeline = {});

}  // namespace gpuprof::cli
