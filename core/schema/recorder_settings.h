// The settings of a recording, shared by launcher and injected library, from recorder_settings.def.
#pragma once

#include <cstdint>

#include "core/schema/recorder_settings.def"

namespace gpuprof::inline schema {

// Share: both clients record. Own: only ours. Yield: the other one, from the moment it starts.
enum class CuptiPolicy { share, own, yield };

// When to record: always, inside an annotation, between cudaProfilerStart and cudaProfilerStop, between two iterations,
// or between gpu_profile.start() and stop().
enum class CaptureRange { always, nvtx, profiler_api, iterations, calls };

struct RecorderSettings {
#define GPUPROF_SETTING_MEMBER(type, name, initial, doc) type name = initial;
    GPUPROF_RECORDER_SETTINGS(GPUPROF_SETTING_MEMBER)
#undef GPUPROF_SETTING_MEMBER
};

// Calls visit(name, value) for each setting; `settings` may be const.
template <class Settings, class Visit>
constexpr void each_setting(Settings& settings, Visit&& visit) {
#define GPUPROF_VISIT_SETTING(type, name, initial, doc) visit(#name, settings.name);
    GPUPROF_RECORDER_SETTINGS(GPUPROF_VISIT_SETTING)
#undef GPUPROF_VISIT_SETTING
}

}  // namespace gpuprof::schema
