// The state that the parts of the collector share: the file, the window, CUPTI's kinds, and buffers of the spool
// thread. One per recording: a forked child creates its own and abandons its parent's.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "collect/inject/activity_switch.h"
#include "collect/inject/process_meta.h"
#include "collect/inject/spool/activity_spool.h"
#include "collect/inject/spool/scratch.h"
#include "collect/inject/spool/spool_file.h"
#include "collect/inject/steps/step_keeper.h"
#include "collect/inject/steps/step_watch.h"
#include "collect/inject/steps/triggered_window.h"
#include "collect/inject/steps/window.h"

namespace gpuprof::inject {

// With --aggregate the launcher reads and deletes finished parts. If it does not, the disk holds this many and the current one.
constexpr std::size_t kMaxAwaited = 8;

// Created once and never destroyed: threads of the program may use it until the last moment.
struct Collector {
    pid_t process = 0;             // its owner; a child of vfork() or clone() shares its parent's
    std::atomic<pid_t> thread{0};  // the spool thread
    EventCount work, ended,
        given_away;  // for the spool thread; when it has ended; when CUPTI belongs to another client
    Window window;
    StepWatch steps;
    TriggeredWindow standby;       // with --standby
    StepKeeper* keeper = nullptr;  // null: all steps are kept
    SpoolFile file;
    Activity activity;
    ActivitySwitch kinds;
    Scratch events, counts, facts, windows;
    std::atomic<bool> cuda_started{false};  // activity.start() has returned
    std::atomic<bool> yielded{false};
    std::int64_t part_began = 0;
    PartNumber part = {};                         // with --aggregate
    std::int64_t finished[kMaxAwaited] = {};      // with --aggregate: the parts before this one, by number
    std::atomic<std::int64_t> starting_since{0};  // CUPTI is being started; 0: not
    bool names_written = false, refusal_written = false, slow_start_written = false, devices_asked = false;
    std::uint64_t refused_memory = 0;  // pieces of annotations that could not be copied
    std::uint64_t counted = ~std::uint64_t{0};
    // In standby, before this part: what was lost, by spool::Lost, and the time that recording cost the program and this thread.
    std::uint64_t lost_before[8] = {}, on_program_before = 0, on_own_before = 0;
};

}  // namespace gpuprof::inject
