#include "analyze/facts/kernels/source_lines.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "analyze/facts/facts.h"

namespace gpuprof::inline facts {
namespace {

// Function, file, line (-1: none), device; offset (-1) and text of an instruction that is an entry of its own.
using Place = std::tuple<StringId, StringId, std::int32_t, std::int32_t, std::int64_t, StringId>;

constexpr std::string_view kSamples = "samples.", kNotIssued = "_not_issued";
constexpr double kMostCount = 9e15;  // exact in a double; nothing counts more

struct Counter {
    std::string_view metric;
    std::optional<double> SourceLineCounters::*member;
};
constexpr Counter kCounters[] = {
    {"smsp__sass_inst_executed", &SourceLineCounters::executed},
    {"smsp__sass_sectors_mem_global", &SourceLineCounters::sectors},
    {"smsp__sass_sectors_mem_global_ideal", &SourceLineCounters::ideal_sectors},
    {"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared", &SourceLineCounters::wavefronts},
    {"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal", &SourceLineCounters::ideal_wavefronts},
};

void count(SourceLineCounters& line, std::string_view metric, double value) {
    if (metric.starts_with(kSamples)) {
        std::string_view reason = metric.substr(kSamples.size());
        if (reason.ends_with(kNotIssued)) return;
        line.reasons[reason] += value;
        line.samples += value;
        return;
    }
    for (const Counter& counter : kCounters)
        if (metric == counter.metric) line.*counter.member = (line.*counter.member).value_or(0) + value;
}

auto order_of(const Trace& trace, const SourceLineCounters& line) {
    return std::tuple(-line.samples, -line.sectors.value_or(0), trace.text(line.function), trace.text(line.file),
                      line.line.value_or(-1), line.device, line.offset);
}

}  // namespace

SourceLines SourceLines::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    const InstructionCounterTable& table = trace.tables().instruction_counter;
    std::int64_t only = facts.options().device;
    std::map<Place, SourceLineCounters> lines;
    std::map<Place, std::set<std::pair<StringId, std::int64_t>>> instructions;  // module and offset
    for (Row row = 0; row < table.rows; ++row) {
        std::int32_t device = table.device.value_or(row, -1);
        if (only >= 0 && device != only) continue;
        double value = table.value.value_or(row, -1);
        if (!(value >= 0 && value < kMostCount)) continue;  // absent, or no count
        bool alone = !table.line.has(row) && table.text.has(row);
        Place place{table.function.value_or(row, kNoString),
                    table.file.value_or(row, kNoString),
                    table.line.value_or(row, -1),
                    device,
                    alone ? table.offset.value_or(row, -1) : -1,
                    alone ? table.text[row] : kNoString};
        SourceLineCounters& line = lines[place];
        std::tie(line.function, line.file, std::ignore, line.device, line.offset, line.instruction) = place;
        line.line = table.line.get(row);
        count(line, trace.text(table.metric.value_or(row, kNoString)), value);
        if (table.offset.has(row))
            instructions[place].emplace(table.module.value_or(row, kNoString), table.offset[row]);
    }
    SourceLines result;
    for (auto& [place, line] : lines) {
        line.instructions = std::ssize(instructions[place]);
        result.samples += line.samples;
        result.samples_by_function[line.function] += line.samples;
        for (const auto& [reason, samples] : line.reasons) result.reasons_by_function[line.function][reason] += samples;
        result.lines.push_back(std::move(line));
    }
    std::sort(result.lines.begin(), result.lines.end(), [&](const SourceLineCounters& a, const SourceLineCounters& b) {
        return order_of(trace, a) < order_of(trace, b);
    });
    return result;
}

std::vector<std::pair<KernelMetric, double>> samples_as_counters(const SourceLines& lines, StringId function) {
    auto reasons = lines.reasons_by_function.find(function);
    auto samples = lines.samples_by_function.find(function);
    if (reasons == lines.reasons_by_function.end() || samples == lines.samples_by_function.end()) return {};
    std::vector<std::pair<KernelMetric, double>> values{{KernelMetric::samples, samples->second}};
    for (const StallReason& reason : stall_reasons()) {
        double count = 0;
        for (const auto& [name, value] : reasons->second)
            if (find_stall(name) == &reason) count += value;
        values.emplace_back(reason.samples, count);
    }
    std::sort(values.begin(), values.end());
    return values;
}

}  // namespace gpuprof::facts
