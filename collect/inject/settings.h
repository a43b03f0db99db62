// What the launcher asked for, from the environment (collect/launch/injection.cc writes it). Without GPUPROF_RECORD_DIR, or in a
// program that runs with another user's rights (AT_SECURE), the library stays dormant.
#pragma once

#include <cstdint>

namespace gpuprof::inject {

// With another CUPTI client in the process: both record, only we do, or it does from when it begins.
enum class Policy { share, own, yield };

// When to record.
enum class Range { always, nvtx, profiler_api, iterations, calls };

struct Settings {
    bool active = false;
    // Copies: a program may change its environment.
    char folder[3072] = {};  // GPUPROF_RECORD_DIR: where this process puts its spool file
    char cupti[1024] = {};   // GPUPROF_CUPTI: the library to use, when named
    // Words of GPUPROF_RECORD, separated by commas:
    // launcher=PID and children=all decide whether this program is recorded: not_recorded.h.
    bool limited = false;               // limited: end when FOLDER/full appears
    bool all_api = false;               // api=all
    bool graph_level = false;           // graph=graph: one record per graph launch
    bool memory = false;                // memory: allocations
    Policy policy = Policy::share;      // cupti=own, cupti=yield
    std::int64_t delay_ns = 0;          // delay=NS
    std::int64_t duration_ns = 0;       // duration=NS; 0: to the end
    std::int64_t keep_last_ns = 0;      // keep=NS; 0: everything
    Range range = Range::always;        // range=nvtx, range=profiler, range=iterations, range=calls
    std::uint64_t first = 0, last = 0;  // first=N, last=N: iterations, from 1
    // GPUPROF_RECORD_RANGE: the annotation that range=nvtx and range=iterations look at, NAME or NAME@DOMAIN.
    char annotation[256] = {};
};

Settings read_settings() noexcept;

}  // namespace gpuprof::inject
