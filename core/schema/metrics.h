// Metrics of device sampling and hardware counters over time, from metrics.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "core/schema/metrics.def"
#include "core/schema/unit.h"

namespace gpuprof::inline schema {

enum class Cadence { fast, slow, gpm, rare };

#define GPUPROF_METRIC_ENUM(id, name, field, unit, cadence, doc) id,
enum class Metric { GPUPROF_METRICS(GPUPROF_METRIC_ENUM) };
#undef GPUPROF_METRIC_ENUM

struct MetricSpec {
    Metric metric;
    std::string_view name;   // in captures, analyses and reports
    std::string_view field;  // in Python, CSV and JSON
    Unit unit;
    Cadence cadence;
    std::string_view doc;
};

#define GPUPROF_METRIC_SPEC(id, name, field, unit, cadence, doc) \
    {Metric::id, name, #field, Unit::unit, Cadence::cadence, doc},
inline constexpr MetricSpec kMetrics[] = {GPUPROF_METRICS(GPUPROF_METRIC_SPEC)};
#undef GPUPROF_METRIC_SPEC
inline constexpr std::size_t kMetricCount = sizeof(kMetrics) / sizeof(kMetrics[0]);
static_assert(kMetricCount <= 64, "a MetricSet is one word");

// Hardware counters sampled over time.
#define GPUPROF_PM_COUNTER_ENUM(id, name, unit, doc) id,
enum class PmCounter { GPUPROF_PM_COUNTERS(GPUPROF_PM_COUNTER_ENUM) };
#undef GPUPROF_PM_COUNTER_ENUM

struct PmCounterSpec {
    PmCounter counter;
    std::string_view name;  // in captures, analyses and reports
    Unit unit;
    std::string_view doc;
};

#define GPUPROF_PM_COUNTER_SPEC(id, name, unit, doc) {PmCounter::id, name, Unit::unit, doc},
inline constexpr PmCounterSpec kPmCounters[] = {GPUPROF_PM_COUNTERS(GPUPROF_PM_COUNTER_SPEC)};
#undef GPUPROF_PM_COUNTER_SPEC
inline constexpr std::size_t kPmCounterCount = sizeof(kPmCounters) / sizeof(kPmCounters[0]);

constexpr const PmCounterSpec& spec_of(PmCounter counter) { return kPmCounters[static_cast<std::size_t>(counter)]; }

constexpr std::size_t index_of(Metric metric) { return static_cast<std::size_t>(metric); }
constexpr const MetricSpec& spec_of(Metric metric) { return kMetrics[index_of(metric)]; }

// A set of metrics.
class MetricSet {
public:
    constexpr MetricSet() = default;
    constexpr explicit MetricSet(std::uint64_t bits) : bits_(bits) {}
    constexpr MetricSet(std::initializer_list<Metric> metrics) {
        for (Metric metric : metrics) add(metric);
    }
    static constexpr MetricSet all() { return MetricSet((std::uint64_t{1} << kMetricCount) - 1); }
    static constexpr MetricSet of(Cadence cadence) {
        MetricSet set;
        for (const MetricSpec& spec : kMetrics)
            if (spec.cadence == cadence) set.add(spec.metric);
        return set;
    }

    constexpr void add(Metric metric) { bits_ |= std::uint64_t{1} << index_of(metric); }
    constexpr void remove(Metric metric) { bits_ &= ~(std::uint64_t{1} << index_of(metric)); }
    constexpr bool has(Metric metric) const { return (bits_ >> index_of(metric)) & 1; }
    constexpr bool empty() const { return bits_ == 0; }
    constexpr std::uint64_t bits() const { return bits_; }
    friend constexpr MetricSet operator|(MetricSet a, MetricSet b) { return MetricSet(a.bits_ | b.bits_); }
    friend constexpr MetricSet operator&(MetricSet a, MetricSet b) { return MetricSet(a.bits_ & b.bits_); }
    friend constexpr bool operator==(MetricSet, MetricSet) = default;

private:
    std::uint64_t bits_ = 0;
};

}  // namespace gpuprof::schema
