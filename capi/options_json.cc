// The option structures of gpuprof.h as JSON, for languages that cannot read the header.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "capi/gpuprof.h"
#include "capi/guard.h"
#include "collect/device/monitor.h"
#include "collect/device/monitor_options.h"
#include "core/base/text/json_writer.h"
#include "measure/bench.h"
#include "measure/bench_options.h"

namespace {

using namespace gpuprof;

template <class Field>
constexpr std::string_view type_of() {
    if constexpr (std::is_same_v<Field, const char*>) return "text";
    if constexpr (std::is_same_v<Field, std::int32_t>) return "i32";
    if constexpr (std::is_same_v<Field, std::int64_t>) return "i64";
    if constexpr (std::is_same_v<Field, std::uint64_t>) return "u64";
    if constexpr (std::is_same_v<Field, double>) return "f64";
}

// Times in seconds; null: unknown.
void write_default(JsonWriter& json, OptionKind, const std::string& value) { json.text(value); }
void write_default(JsonWriter& json, OptionKind, measure::StopRule value) { json.text(name_of(value)); }
void write_default(JsonWriter& json, OptionKind, bool value) { json.boolean(value); }
void write_default(JsonWriter& json, OptionKind, double value) { json.real(value); }
void write_default(JsonWriter& json, OptionKind, const std::optional<double>&) { json.null(); }
void write_default(JsonWriter& json, OptionKind, const MathPath&) { json.null(); }
void write_default(JsonWriter& json, OptionKind, std::nullptr_t) { json.null(); }
template <class Integer>
void write_default(JsonWriter& json, OptionKind kind, Integer value) {
    bool is_time = kind == OptionKind::time || kind == OptionKind::limit || kind == OptionKind::span;
    is_time ? json.real(static_cast<double>(value) / 1e9) : json.integer(static_cast<std::int64_t>(value));
}

template <class Field, class Default>
void write_option(JsonWriter& json, const OptionSpec& spec, std::size_t offset, const Default& usual, bool stopping) {
    auto named = [&json](std::string_view name, std::string_view value) {
        json.key(name);
        value.empty() ? json.null() : json.text(value);
    };
    json.begin_object();
    json.member("field", spec.field);
    json.member("type", type_of<Field>());
    json.member("offset", static_cast<std::int64_t>(offset));
    json.member("kind", name_of(spec.kind));
    json.key("default");
    write_default(json, spec.kind, usual);
    named("parameter", spec.parameter);
    named("flag", spec.flag);
    json.key("stopping");
    json.boolean(stopping);
    json.end_object();
}

// Describes one option of `Structure`; the object `usual` holds the defaults.
#define GPUPROF_WRITE(field, member, kind, parameter, flag, value, doc)                                         \
    write_option<decltype(Structure::field)>(                                                                   \
        json, GPUPROF_OPTION_SPEC(field, member, kind, parameter, flag, value, doc) offsetof(Structure, field), \
        usual.member, kStopping);
// Stand-ins for an option without a member: null, or false.
#define GPUPROF_WRITE_WITHOUT_MEMBER(field, member, kind, parameter, flag, value, doc)                          \
    write_option<decltype(Structure::field)>(                                                                   \
        json, GPUPROF_OPTION_SPEC(field, member, kind, parameter, flag, value, doc) offsetof(Structure, field), \
        without_member<OptionKind::kind>(), false);

template <OptionKind kKind>
auto without_member() {
    if constexpr (kKind == OptionKind::on)
        return false;
    else
        return nullptr;
}

void write_stopping(JsonWriter& json) {
    using Structure = gpuprof_bench_options;
    measure::StoppingOptions usual;
    constexpr bool kStopping = true;
    GPUPROF_STOPPING_OPTIONS(GPUPROF_WRITE)
}

void write_functions(JsonWriter& json) {
    using Structure = gpuprof_bench_options;
    measure::BenchOptions usual;
    constexpr bool kStopping = false;
    GPUPROF_FUNCTION_OPTIONS(GPUPROF_WRITE)
}

void write_monitor(JsonWriter& json) {
    using Structure = gpuprof_monitor_options;
    MonitorOptions usual;
    constexpr bool kStopping = false;
    GPUPROF_MONITOR_OPTIONS(GPUPROF_WRITE)
    GPUPROF_SAMPLE_OPTIONS(GPUPROF_WRITE_WITHOUT_MEMBER)
}

template <class... Parts>
void write_structure(JsonWriter& json, std::string_view name, std::size_t size, Parts... parts) {
    json.key(name);
    json.begin_object();
    json.member("size", static_cast<std::int64_t>(size));
    json.key("options");
    json.begin_array();
    (parts(json), ...);
    json.end_array();
    json.end_object();
}

std::string options_json() {
    StringSink sink;
    JsonWriter json(sink);
    json.begin_object();
    write_structure(json, "bench", sizeof(gpuprof_bench_options), write_stopping, write_functions);
    write_structure(json, "monitor", sizeof(gpuprof_monitor_options), write_monitor);
    json.end_object();
    return sink.text();
}

}  // namespace

extern "C" const char* gpuprof_options_json(void) {
    const char* text = nullptr;
    capi::guarded([&]() -> Status {
        static const std::string made = options_json();
        text = made.c_str();
        return {};
    });
    return text;
}
