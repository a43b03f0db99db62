// What the launcher asked for, from the environment. Without GPUPROF_RECORD_DIR, or in a program that runs with another
// user's rights (AT_SECURE), the library stays dormant.
#pragma once

namespace gpuprof::inject {

struct Settings {
    bool active = false;
    const char* folder = nullptr;  // GPUPROF_RECORD_DIR: where this process puts its spool file
    const char* cupti = nullptr;   // GPUPROF_CUPTI: the library to use, when named
    bool all_api = false;          // GPUPROF_RECORD has "api=all"
    bool graph_level = false;      // "graph=graph": one record per graph launch
};

Settings read_settings() noexcept;

}  // namespace gpuprof::inject
