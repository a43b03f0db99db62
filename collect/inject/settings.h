// What the launcher asked for, from the environment (collect/launch/injection.cc writes it). Without GPUPROF_RECORD_DIR, in a
// program that runs with another user's rights (AT_SECURE), and in programs that nobody wants to see (not_recorded.h), the
// library stays dormant.
#pragma once

#include "core/schema/recorder_settings.h"

namespace gpuprof::inject {

struct Settings : RecorderSettings {  // those of GPUPROF_RECORD
    bool active = false;
    char folder[3072] = {};     // GPUPROF_RECORD_DIR: where this process puts its spool file
    char library[1024] = {};    // GPUPROF_CUPTI: the libcupti to use, when named
    char annotation[256] = {};  // GPUPROF_RECORD_RANGE: NAME or NAME@DOMAIN, for the ranges nvtx and iterations
};

// As they were when first asked for: a program may change its environment.
const Settings& settings() noexcept;

}  // namespace gpuprof::inject
