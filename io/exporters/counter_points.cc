#include "io/exporters/counter_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace gpuprof::inline exporters {
namespace {

template <class Key>
void take_sorted(std::map<Key, Counter>& counters, std::vector<Counter>& all) {
    for (auto& [key, counter] : counters) {
        std::stable_sort(counter.points.begin(), counter.points.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        all.push_back(std::move(counter));
    }
}

void add_samples(const Trace& trace, std::vector<Counter>& all) {
    std::map<std::tuple<std::int32_t, StringId, std::int64_t>, Counter> counters;
    const SampleTable& s = trace.tables().sample;
    for (Row row = 0; row < s.rows; ++row) {
        if (!s.metric.has(row) || !s.value.has(row)) continue;
        std::int32_t device = s.device.value_or(row, 0);
        Counter& counter = counters[{device, s.metric[row], s.pid.value_or(row, -1)}];
        if (counter.points.empty()) {
            counter.device = device;
            counter.name = s.pid.has(row) ? fmt::format("{}, process {}", trace.text(s.metric[row]), s.pid[row])
                                          : std::string(trace.text(s.metric[row]));
            if (s.unit.has(row)) counter.unit = trace.text(s.unit[row]);
        }
        counter.points.emplace_back(s.time[row], s.value[row]);
    }
    take_sorted(counters, all);
}

void add_memory(const Trace& trace, std::vector<Counter>& all) {
    std::map<std::pair<std::int32_t, int>, Counter> counters;
    const MemoryEventTable& m = trace.tables().memory_event;
    for (Row row = 0; row < m.rows; ++row) {
        if (!m.device.has(row)) continue;
        auto add = [&](int which, const char* name, const Column<std::int64_t>& column) {
            if (!column.has(row)) return;
            Counter& counter = counters[{m.device[row], which}];
            if (counter.points.empty()) counter = {m.device[row], kNoString, name, "bytes"};
            counter.points.emplace_back(m.time[row], static_cast<double>(column[row]));
        };
        add(0, "memory allocated", m.total_allocated);
        add(1, "memory reserved", m.total_reserved);
    }
    take_sorted(counters, all);
}

// CPUs in use by whole processes: CPU time divided by time.
void add_processors(const Trace& trace, std::vector<Counter>& all) {
    std::map<StringId, Counter> counters;
    const CpuSampleTable& c = trace.tables().cpu_sample;
    for (Row row = 0; row < c.rows; ++row) {
        if (c.thread.has(row) || !c.process.has(row) || c.dur[row] <= 0) continue;
        Counter& counter = counters[c.process[row]];
        if (counter.points.empty()) counter = {{}, c.process[row], "CPUs in use", "CPUs"};
        double used =
            static_cast<double>(c.user_ns.value_or(row, 0)) + static_cast<double>(c.system_ns.value_or(row, 0));
        counter.points.emplace_back(c.time[row], used / static_cast<double>(c.dur[row]));
    }
    take_sorted(counters, all);
}

}  // namespace

std::vector<Counter> counters_of(const Trace& trace) {
    std::vector<Counter> all;
    add_samples(trace, all);
    add_memory(trace, all);
    std::stable_sort(all.begin(), all.end(), [](const Counter& a, const Counter& b) { return a.device < b.device; });
    add_processors(trace, all);
    return all;
}

}  // namespace gpuprof::exporters
