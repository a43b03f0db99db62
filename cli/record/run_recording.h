// One recorded run of a command: the injected library, the companions, and the parts that they leave. Used by `record`
// and `counters`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/record/clock_state.h"
#include "cli/record/sample_option.h"
#include "cli/record/standby.h"
#include "collect/launch/injection.h"
#include "collect/launch/target.h"
#include "core/model/build/trace_builder.h"

namespace gpuprof::inline cli {

struct RecordingRequest {
    std::string output;
    std::string parts = {};  // a folder for the parts; "": parts_folder() chooses
    InjectionOptions injection;
    SampleOption sample;
    double python = 0;  // Hz; 0: no stacks
    bool cpu_use = true, scheduling = false, progress = true;
    std::string max_size;      // as the user wrote it; "" for none. With `standby`, of the last parts (--keep-last)
    std::string counter_plan;  // core/format/counter_plan.h; "": device work is recorded instead of counters
    std::string cupti;         // that made the plan, so that the program uses the same; "": any
    std::vector<std::string> debug_groups = {};  // debug_env.h
    std::string standby = {};                    // absolute folder of the captures; "": record at once
    std::string aggregate = {};                  // absolute folder of the totals; "": keep a recording
    std::vector<std::string> command;
};

struct RecordedRun {
    SpoolFolder folder;
    std::string command;  // without secrets; "" with --no-command-line
    std::string program;  // its first word
    pid_t pid = -1;
    TargetExit end;
    std::optional<DurNs> full_after = {};                    // when the parts reached --max-size
    std::optional<PreloadPath> preload = {}, os_calls = {};  // children of the command may still need them
    ClockState clock_at_start = {};
    std::vector<std::string> debug_groups = {};
    bool launches_block = false;
    RecorderSettings settings = {};
    StandbyResult standby = {};
};

// Runs it to its end. The target was created before any thread, and keeps its signals blocked.
Result<RecordedRun> run_recorded(Target& target, const RecordingRequest& request);

// The launcher's facts: that it recorded, and how the command ended.
Batch own_facts(const RecordedRun& run);

}  // namespace gpuprof::cli
