#include "core/analyze/facts/call_names.h"

#include <algorithm>
#include <unordered_set>

#include "core/analyze/facts/facts.h"

namespace gpuprof {
namespace {

void count_threads(const ApiCallTable& calls, const NameGroups& names, std::vector<CallTimes>& groups) {
    std::vector<StringId> last(groups.size(), kNoString);
    std::vector<std::unordered_set<std::uint32_t>> threads(groups.size());
    for (Row row = 0; row < calls.rows; ++row) {
        StringId thread = calls.thread.value_or(row, kNoString);
        std::uint32_t group = names.of(row);
        if (thread != last[group] && thread != kNoString) threads[group].insert(index_of(thread));
        last[group] = thread;
    }
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i].threads = threads[i].size();
}

}  // namespace

CallNames CallNames::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    NameGroups names(trace.api_call().name, trace.strings().size(), [](Row) { return true; });
    CallNames result;
    result.calls.resize(names.size());
    count_threads(trace.api_call(), names, result.calls);
    PodVector<std::int64_t> durations = names.gather([&](Row row) { return trace.api_call().dur[row]; });
    for_each_group(names.size(), durations.size(), [&](std::size_t i) {
        result.calls[i].name = names.name(i);
        result.calls[i].stat = stat_of(names.slice(durations, i));
    });
    std::sort(result.calls.begin(), result.calls.end(), [&](const CallTimes& a, const CallTimes& b) {
        return a.stat.sum != b.stat.sum ? a.stat.sum > b.stat.sum : trace.text(a.name) < trace.text(b.name);
    });
    return result;
}

std::string CallNames::handle(StringId name) const {
    for (std::size_t i = 0; i < calls.size(); ++i)
        if (calls[i].name == name) return "a-" + std::to_string(i + 1);
    return "";
}

}  // namespace gpuprof
