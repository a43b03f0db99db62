// The settings of a recording as launcher and injected library share them, from recorder_settings.def.
#pragma once

#include <cstdint>

#include "core/schema/recorder_settings.def"

namespace gpuprof {

// Both record; only we do; the other does from when it begins.
enum class CuptiPolicy { share, own, yield };

// Always; inside an annotation; between cudaProfilerStart and Stop; from one iteration to another; between
// gpu_profile.start() and stop().
enum class CaptureRange { always, nvtx, profiler_api, iterations, calls };

struct RecorderSettings {
#define GPUPROF_SETTING_MEMBER(type, name, initial, doc) type name = initial;
    GPUPROF_RECORDER_SETTINGS(GPUPROF_SETTING_MEMBER)
#undef GPUPROF_SETTING_MEMBER
};

// Visits the name and the value of each, as the struct given has it (const or not).
template <class Settings, class Visit>
constexpr void each_setting(Settings& settings, Visit&& visit) {
#define GPUPROF_VISIT_SETTING(type, name, initial, doc) visit(#name, settings.name);
    GPUPROF_RECORDER_SETTINGS(GPUPROF_VISIT_SETTING)
#undef GPUPROF_VISIT_SETTING
}

}  // namespace gpuprof
