// The recordings of the ranks of a job, opened when its page asks for them. Their files are those that the job's
// summaries name, if they are in a folder that the user gave; requests name ranks only.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/view/content.h"
#include "core/base/files/named_files.h"
#include "core/base/result.h"
#include "core/model/interval.h"
#include "core/model/trace.h"
#include "core/schema/read_limits.h"
#include "present/view/document.h"

namespace gpuprof::inline cli {

class RankRecordings {
public:
    // `job`: any recording; without summaries of ranks there is nothing to open.
    RankRecordings(const Trace& job, NamedFiles named, const ReadLimits& limits);

    // Ranks whose file is there now.
    std::vector<std::int32_t> openable() const;
    // When a rank ran a step, by the clock of its recording.
    std::optional<Interval> step(std::int32_t rank, std::int64_t step) const;
    // The last few are kept: a page that is still open reads its recording again.
    Result<std::shared_ptr<const ViewDocument>> open(std::int32_t rank);

private:
    NamedFiles named_;
    std::map<std::int32_t, std::string> files_;
    std::map<std::pair<std::int32_t, std::int64_t>, Interval> steps_;
    std::list<std::pair<std::int32_t, std::shared_ptr<const ViewDocument>>> open_;  // last used first
    ReadLimits limits_;
};

// Of a job, or of any other recording, which has none. `given`: what the user named.
RankPages rank_pages(const Trace& job, const std::vector<std::string>& given, const ReadLimits& limits);

}  // namespace gpuprof::cli
