// What a process saw of its steps, and which of them it kept (--keep-slow, --trigger): the stretches of time that a
// recording of it has, its facts for the table `meta`, and ranges for steps that only marks delimit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/format/spool.h"
#include "core/model/build/kept_steps.h"
#include "core/model/build/trace_builder.h"

namespace gpuprof::inline importers {

class SpoolSteps {
public:
    // The payload of a spool_steps chunk; the last one counts. False: it is damaged.
    bool take(std::string_view payload);
    bool known() const { return seen_.has_value(); }
    // When something was recorded, start and end; end 0: until the process was killed.
    std::map<TimeNs, TimeNs> windows() const;
    // Facts and losses. `process` names it in sentences.
    void add_facts(Batch& batch, const std::string& process) const;
    // Ranges called "step N" for kept steps that began and ended with marks.
    void add_ranges(Batch& batch, const std::function<StringId(std::uint32_t)>& thread_key) const;

private:
    KeptStepFact fact_of(const spool::KeptStep& step) const;
    std::vector<KeptStepFact> slowest_first() const;
    std::string what_was_kept() const;
    std::string nothing_ended() const;
    std::string remarks() const;

    std::optional<spool::StepsSeen> seen_;
    std::vector<spool::StepSeries> series_;
    std::vector<spool::KeptStep> kept_;
};

}  // namespace gpuprof::importers
