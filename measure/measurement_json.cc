// The JSON of measurements and comparisons, for other languages. Names are a contract (capi/gpuprof.h).
#include "measure/measurement_fields.h"
#include "measure/member_writer.h"

namespace gpuprof::measure {
namespace {

void real(JsonWriter& json, std::string_view name, std::optional<double> value) {
    json.key(name);
    value ? json.real(*value) : json.null();
}
void boolean(JsonWriter& json, std::string_view name, bool value) {
    json.key(name);
    json.boolean(value);
}
void count(JsonWriter& json, std::string_view name, std::size_t value) {
    json.member(name, static_cast<std::int64_t>(value));
}
void interval(JsonWriter& json, std::string_view name, const std::optional<Interval>& value) {
    json.key(name);
    if (!value) return json.null();
    json.begin_object();
    real(json, "low", value->low);
    real(json, "high", value->high);
    real(json, "level", value->level);
    json.end_object();
}

// Mean, spread and percentiles; null without samples.
void write_values(const Statistics& s, JsonWriter& json) {
    auto value = [&](std::string_view name, double number) {
        real(json, name, s.count > 0 ? std::optional(number) : std::nullopt);
    };
    value("median_ns", s.median), value("mean_ns", s.mean), value("std_ns", s.std), value("min_ns", s.min);
    value("max_ns", s.max), value("p5_ns", s.p5), value("p25_ns", s.p25), value("p75_ns", s.p75);
    value("p95_ns", s.p95), value("noise", s.noise);
}

}  // namespace

void write_json(const Statistics& s, JsonWriter& json) {
    json.begin_object();
    count(json, "count", s.count);
    write_values(s, json);
    interval(json, "median_interval", s.median_interval);
    json.key("no_interval_because");
    s.median_interval ? json.null() : json.text(s.no_interval_because);
    real(json, "precision", s.precision);
    count(json, "outliers_low", s.outliers_low);
    count(json, "outliers_high", s.outliers_high);
    boolean(json, "bimodal", s.bimodal);
    real(json, "drift", s.drift);
    real(json, "lag1", s.lag1);
    real(json, "effective_count", s.effective_count);
    json.end_object();
}

void write_json(const Comparison& found, JsonWriter& json) {
    auto end = [&](const std::optional<Interval>& of, double Interval::*member) {
        return of ? std::optional((*of).*member) : std::nullopt;
    };
    json.begin_object();
    real(json, "speedup", found.speedup);
    real(json, "speedup_low", end(found.interval, &Interval::low));
    real(json, "speedup_high", end(found.interval, &Interval::high));
    real(json, "level", end(found.interval, &Interval::level));
    real(json, "strict_low", end(found.strict_interval, &Interval::low));
    real(json, "strict_high", end(found.strict_interval, &Interval::high));
    json.member("verdict", name_of(found.verdict));
    json.member("reason", found.reason);
    boolean(json, "paired", found.paired);
    count(json, "baseline_count", found.baseline_count);
    count(json, "candidate_count", found.candidate_count);
    real(json, "baseline_noise", found.baseline_count > 0 ? std::optional(found.baseline_noise) : std::nullopt);
    real(json, "candidate_noise", found.candidate_count > 0 ? std::optional(found.candidate_noise) : std::nullopt);
    real(json, "min_effect", found.min_effect);
    json.end_object();
}

void write_json(const Measurement& measurement, JsonWriter& json) {
    MemberWriter(json).write_object([&](MemberWriter& writer) { visit_measurement(measurement, writer); });
}

}  // namespace gpuprof::measure
