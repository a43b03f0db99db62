// The settings of a recording, shared by launcher and injected library, from recorder_settings.def.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/schema/recorder_settings.def"

namespace gpuprof::inline schema {

enum class ApiCalls { selected, all };
enum class GraphDetail { node, graph };
// Share: both clients record. Own: only ours. Yield: the other one, from the moment it starts.
enum class CuptiPolicy { share, own, yield };

// When to record: always, inside an annotation, between cudaProfilerStart and cudaProfilerStop, between two iterations,
// or between gpu_profile.start() and stop().
enum class CaptureRange { always, nvtx, profiler_api, iterations, calls };

// The words of a choice, in the order of its values.
constexpr std::array<std::string_view, 2> words_of(ApiCalls) { return {"selected", "all"}; }
constexpr std::array<std::string_view, 2> words_of(GraphDetail) { return {"node", "graph"}; }
constexpr std::array<std::string_view, 3> words_of(CuptiPolicy) { return {"share", "own", "yield"}; }

struct RecorderSettings {
#define GPUPROF_SETTING_MEMBER(type, name, initial, option) type name = initial;
    GPUPROF_RECORDER_SETTINGS(GPUPROF_SETTING_MEMBER)
#undef GPUPROF_SETTING_MEMBER
};

// How `record` sets a setting: the option, or "" if the launcher finds the value by other means; then `doc` says what the
// value is.
struct SettingOption {
    enum Kind { none, toggle, choice, seconds, count };

    Kind kind = none;
    std::string_view flag = {}, value = {}, doc = {};  // the name of the option, that of its value, and its help
    std::int64_t low = 0, high = 0;                    // of a count
    std::string_view needs = {};                       // has no effect without this: another option, or kCuda

    static constexpr std::string_view kCuda = "CUDA";

    constexpr SettingOption needing(std::string_view what) const {
        SettingOption option = *this;
        option.needs = what;
        return option;
    }
    constexpr SettingOption needing_cuda() const { return needing(kCuda); }
};

namespace setting {

constexpr SettingOption internal(std::string_view doc) { return {.doc = doc}; }
constexpr SettingOption flag(std::string_view name, std::string_view doc) {
    return {.kind = SettingOption::toggle, .flag = name, .doc = doc};
}
constexpr SettingOption choice(std::string_view name, std::string_view value, std::string_view doc) {
    return {.kind = SettingOption::choice, .flag = name, .value = value, .doc = doc};
}
// Of a value in ns.
constexpr SettingOption seconds(std::string_view name, std::string_view doc) {
    return {.kind = SettingOption::seconds, .flag = name, .value = "S", .doc = doc};
}
constexpr SettingOption count(std::string_view name, std::string_view value, std::int64_t low, std::int64_t high,
                              std::string_view doc) {
    return {.kind = SettingOption::count, .flag = name, .value = value, .doc = doc, .low = low, .high = high};
}

}  // namespace setting

// A setting as data. `initial` is what it is without the option.
struct SettingSpec {
    std::string_view name;
    std::int64_t initial = 0;
    SettingOption option;
};

// Whether a setting has another value than without its option.
template <class Value>
constexpr bool is_given(const SettingSpec& setting, Value value) {
    return static_cast<std::int64_t>(value) != setting.initial;
}

// The key of the capture's `meta` row that says how the option was given.
inline std::string meta_name(const SettingSpec& setting) { return "record." + std::string(setting.name); }
// And its value.
template <class Value>
std::string meta_value(Value value) {
    if constexpr (requires { words_of(value); })
        return std::string(words_of(value)[static_cast<std::size_t>(value)]);
    else
        return std::to_string(static_cast<std::int64_t>(value));
}

// Calls visit(spec, value) for each setting; `settings` may be const.
template <class Settings, class Visit>
constexpr void each_setting(Settings& settings, Visit&& visit) {
#define GPUPROF_VISIT_SETTING(type, name, initial, option) \
    visit(SettingSpec{#name, static_cast<std::int64_t>(initial), setting::option}, settings.name);
    GPUPROF_RECORDER_SETTINGS(GPUPROF_VISIT_SETTING)
#undef GPUPROF_VISIT_SETTING
}

}  // namespace gpuprof::schema
