// The launcher's settings, from the environment (collect/launch/injection.cc writes it). The library stays dormant
// without GPUPROF_RECORD_DIR, in a program that runs with another user's rights (AT_SECURE), and in helper programs.
#pragma once

#include "core/schema/recorder_settings.h"

namespace gpuprof::inject {

struct Settings : RecorderSettings {  // from GPUPROF_RECORD
    bool active = false;
    char folder[3072] = {};     // GPUPROF_RECORD_DIR: folder for this process's spool file
    char library[1024] = {};    // GPUPROF_CUPTI: the libcupti to use, if named
    char annotation[256] = {};  // GPUPROF_RECORD_RANGE: NAME or NAME@DOMAIN, for the ranges nvtx and iterations
};

// Fixed at the first call: a program may change its environment.
const Settings& settings() noexcept;

}  // namespace gpuprof::inject
