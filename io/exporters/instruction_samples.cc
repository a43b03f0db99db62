#include "io/exporters/instruction_samples.h"

#include <cmath>
#include <map>
#include <tuple>

namespace gpuprof::inline exporters {
namespace {

constexpr std::string_view kSamplePrefix = "samples.", kNotIssued = "_not_issued";
constexpr double kExact = 9e15;  // larger values are no counts

// The stall reason that a metric counts; empty for other metrics.
std::string_view reason_of(std::string_view metric) {
    if (!metric.starts_with(kSamplePrefix) || metric.ends_with(kNotIssued)) return {};
    return metric.substr(kSamplePrefix.size());
}

}  // namespace

std::vector<InstructionSamples> instruction_samples(const Trace& trace) {
    const InstructionCounterTable& table = trace.tables().instruction_counter;
    std::map<std::tuple<std::string_view, std::string_view, std::int32_t, std::string_view>, double> counts;
    for (Row row = 0; row < table.rows; ++row) {
        std::string_view reason = reason_of(trace.text(table.metric.value_or(row, kNoString)));
        double value = table.value.value_or(row, 0);
        if (reason.empty() || !std::isfinite(value) || value <= 0) continue;
        counts[{trace.text(table.function.value_or(row, kNoString)), trace.text(table.file.value_or(row, kNoString)),
                table.line.value_or(row, 0), reason}] += value;
    }
    std::vector<InstructionSamples> result;
    for (const auto& [key, count] : counts) {
        auto [kernel, file, line, reason] = key;
        if (count < kExact) result.push_back({kernel, file, reason, line, std::llround(count)});
    }
    return result;
}

bool has_instruction_samples(const Trace& trace) { return !instruction_samples(trace).empty(); }

}  // namespace gpuprof::exporters
