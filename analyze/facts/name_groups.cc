#include "analyze/facts/name_groups.h"

#include <algorithm>
#include <numeric>
#include <thread>
#include <unordered_set>

#include "analyze/facts/facts.h"
#include "core/base/parallel.h"

namespace gpuprof::inline facts {
namespace {

constexpr std::size_t kMinItemsForThreads = 200'000;  // about a millisecond of work; a thread starts in 50 us

}  // namespace

void for_each_group(std::size_t n, std::size_t items, const std::function<void(std::size_t)>& work) {
    auto threads = static_cast<unsigned>(
        std::min<std::size_t>({n, std::thread::hardware_concurrency(), items / kMinItemsForThreads + 1}));
    run_parallel(n, threads, [&](std::size_t i, unsigned) { work(i); });
}

namespace {

template <class Table>
void count_threads(const Table& calls, const NameGroups& names, std::vector<CallTimes>& groups) {
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

template <class Table>
std::vector<CallTimes> times_by_name(const Trace& trace, const Table& calls) {
    NameGroups names(calls.name, trace.strings().size(), [](Row) { return true; });
    std::vector<CallTimes> groups(names.size());
    count_threads(calls, names, groups);
    PodVector<std::int64_t> durations = names.gather([&](Row row) { return calls.dur[row]; });
    for_each_group(names.size(), durations.size(), [&](std::size_t i) {
        groups[i].name = names.name(i);
        groups[i].stat = stat_of(names.slice(durations, i));
    });
    std::sort(groups.begin(), groups.end(), [&](const CallTimes& a, const CallTimes& b) {
        return a.stat.sum != b.stat.sum ? a.stat.sum > b.stat.sum : trace.text(a.name) < trace.text(b.name);
    });
    return groups;
}

}  // namespace

std::vector<CallTimes> calls_by_name(const Trace& trace, const ApiCallTable& calls) {
    return times_by_name(trace, calls);
}
std::vector<CallTimes> calls_by_name(const Trace& trace, const OsCallTable& calls) {
    return times_by_name(trace, calls);
}

CallNames CallNames::make(const Facts& facts) { return {calls_by_name(facts.trace(), facts.trace().api_call())}; }

std::string CallNames::handle(StringId name) const {
    for (std::size_t i = 0; i < calls.size(); ++i)
        if (calls[i].name == name) return "a-" + std::to_string(i + 1);
    return "";
}

KernelNames KernelNames::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    const KernelTable& kernels = trace.kernel();
    std::int64_t only = facts.options().device;
    KernelNames names{NameGroups(kernels.name, trace.strings().size(),
                                 [&](Row row) { return only < 0 || kernels.device.value_or(row, -1) == only; }),
                      {},
                      {}};
    names.totals.resize(names.groups.size());
    for (Row row = 0; row < kernels.rows; ++row)
        if (std::uint32_t group = names.groups.of(row); group != NameGroups::kLeftOut)
            names.totals[group].add(kernels.dur[row]);
    names.order.resize(names.groups.size());
    std::iota(names.order.begin(), names.order.end(), 0u);
    std::sort(names.order.begin(), names.order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return names.totals[a] != names.totals[b] ? names.totals[a] > names.totals[b]
                                                  : trace.text(names.groups.name(a)) < trace.text(names.groups.name(b));
    });
    return names;
}

}  // namespace gpuprof::facts
