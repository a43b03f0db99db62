#include "analyze/facts/idle/thread_states.h"

#include <optional>
#include <set>

#include "analyze/facts/facts.h"
#include "analyze/facts/idle/cpu_waits.h"
#include "analyze/facts/idle/waits.h"

namespace gpuprof::inline facts {
namespace {

// Shares of an interval in which the thread used the CPU.
constexpr double kRuns = 0.9, kSleeps = 0.1;

constexpr std::int64_t kMaxTime = std::int64_t{1} << 61;  // ends of intervals beyond it could overflow

using Spans = std::array<Intervals, kThreadStates>;

Intervals& of(Spans& spans, ThreadState state) { return spans[static_cast<std::size_t>(state)]; }

std::set<StringId> keys_of(const std::map<StringId, Spans>& threads) {
    std::set<StringId> keys;
    for (const auto& [key, spans] : threads) keys.insert(key);
    return keys;
}

std::optional<ThreadState> state_in(const CpuSampleTable& samples, Row row) {
    if (!samples.time.has(row) || samples.time[row] < -kMaxTime || samples.time[row] > kMaxTime) return std::nullopt;
    if (samples.dur[row] <= 0 || samples.dur[row] > kMaxTime) return std::nullopt;
    if (!samples.user_ns.has(row) && !samples.system_ns.has(row)) return std::nullopt;
    double used =
        static_cast<double>(samples.user_ns.value_or(row, 0)) + static_cast<double>(samples.system_ns.value_or(row, 0));
    double share = used / static_cast<double>(samples.dur[row]);
    if (share >= kRuns) return ThreadState::runs;
    return share > kSleeps ? ThreadState::runs_partly : ThreadState::sleeps;
}

// Threads whose scheduling was recorded: all of their time from the first stretch on a CPU to the last is known.
std::map<StringId, Spans> scheduled(const Facts& facts) {
    std::map<StringId, Spans> threads;
    const CpuSliceTable& slices = facts.trace().tables().cpu_slice;
    for (Row row = 0; row < slices.rows; ++row)
        if (slices.thread.has(row))
            of(threads[slices.thread[row]], ThreadState::runs)
                .push_back({slices.start[row], slices.start[row] + slices.dur[row]});
    const CpuWaits& waits = facts.get<CpuWaits>();
    for (auto& [thread, spans] : threads) {
        IntervalSet runs = unite(of(spans, ThreadState::runs));
        IntervalSet off = subtract({{runs.front().start, runs.back().end}}, unite(runs, waits.lost));
        if (auto found = waits.of_thread.find(thread); found != waits.of_thread.end())
            of(spans, ThreadState::waits_for_cpu) = found->second;
        of(spans, ThreadState::sleeps) = std::move(off);
    }
    return threads;
}

std::map<StringId, Spans> recorded(const Facts& facts) {
    std::map<StringId, Spans> threads = scheduled(facts);
    const std::set<StringId> exact = keys_of(threads);
    const Trace& trace = facts.trace();
    const OsCallTable& calls = trace.tables().os_call;
    for (Row row = 0; row < calls.rows; ++row)
        if (calls.thread.has(row))
            of(threads[calls.thread[row]], ThreadState::system_call)
                .push_back({calls.start[row], calls.start[row] + calls.dur[row]});
    const CpuSampleTable& samples = trace.tables().cpu_sample;
    for (Row row = 0; row < samples.rows; ++row) {
        if (!samples.thread.has(row) || exact.contains(samples.thread[row])) continue;
        if (std::optional<ThreadState> state = state_in(samples, row))
            of(threads[samples.thread[row]], *state)
                .push_back({samples.time[row], samples.time[row] + samples.dur[row]});
    }
    return threads;
}

}  // namespace

std::string_view name_of(ThreadState state) {
    switch (state) {
        case ThreadState::waits_for_device: return "waits for the device";
        case ThreadState::waits_for_cpu: return "waits for a CPU";
        case ThreadState::system_call: return "in a system call";
        case ThreadState::runs: return "on the CPU";
        case ThreadState::runs_partly: return "partly on the CPU";
        case ThreadState::sleeps: return "off the CPU";
    }
    return "";
}

ThreadStates ThreadStates::make(const Facts& facts) {
    ThreadStates states;
    const Waits& waits = facts.get<Waits>();
    for (auto& [thread, spans] : recorded(facts)) {
        if (auto found = waits.of_thread.find(thread); found != waits.of_thread.end())
            of(spans, ThreadState::waits_for_device) = found->second;
        IntervalSet known;
        for (std::size_t state = 0; state < kThreadStates; ++state) {
            IntervalSet all = unite(std::move(spans[state]));
            states.of_thread[thread][state] = subtract(all, known);
            known = unite(known, all);
        }
    }
    return states;
}

}  // namespace gpuprof::facts
