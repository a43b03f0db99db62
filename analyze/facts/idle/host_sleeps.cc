#include "analyze/facts/idle/host_sleeps.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/facts/facts.h"
#include "analyze/facts/idle/host_timeline.h"
#include "analyze/facts/idle/submitters.h"
#include "analyze/facts/idle/thread_states.h"
#include "analyze/facts/idle/waits.h"
#include "analyze/knowledge/host_names.h"
#include "core/base/text/python_frame.h"

namespace gpuprof::inline facts {
namespace {

// Shorter sleeps are locks and pauses of a running program.
constexpr DurNs kMinSleep = 50'000;
// A thread that ran for this part of another one's sleep did what that one waited for.
constexpr double kWorkedInstead = 0.5;
// CPU time of a sampled interval, as a part of its time outside calls of the driver: the thread slept in nearly all of that.
constexpr double kHardlyUsed = 0.1;

using ByThread = std::map<StringId, Intervals>;

// What was recorded of all threads.
struct Observed {
    ByThread asleep, for_input, timed, received, works;
    ByThread in_calls;         // of the system that do more than wait: files, the driver, processes
    std::set<StringId> known;  // threads of which anything was
};

// Waits of one thread in calls of the system, by what ends them.
struct OsWaits {
    Intervals outside, inside;
    IntervalSet any;
};

// A wait for another thread of the process does not count while that one may work for it: a thread that makes calls of the system and
// waits in none.
bool any_works(const std::map<StringId, OsWaits>& threads, StringId thread, Interval wait) {
    return std::any_of(threads.begin(), threads.end(), [&](const auto& each) {
        auto least = static_cast<DurNs>(kWorkedInstead * static_cast<double>(wait.length()));
        return each.first != thread && length_within(each.second.any, wait) < least;
    });
}

void observe_os_calls(const Trace& trace, Observed& found) {
    const OsCallTable& calls = trace.tables().os_call;
    enum class OsWait : std::uint8_t { none, outside, timed, received, inside };
    std::unordered_map<StringId, OsWait> names;
    std::map<StringId, OsWaits> threads;
    for (Row row = 0; row < calls.rows; ++row) {
        StringId name = calls.name.value_or(row, kNoString), thread = calls.thread.value_or(row, kNoString);
        if (thread == kNoString || name == kNoString) continue;
        found.known.insert(thread);
        auto [known, added] = names.try_emplace(name, OsWait::none);
        if (added && waits_in_os(trace.text(name))) {
            known->second = sleeps_in_os(trace.text(name)) ? OsWait::timed : OsWait::outside;
            if (waits_for_thread_in_os(trace.text(name))) known->second = OsWait::inside;
            if (trace.text(name).starts_with("recv")) known->second = OsWait::received;
        }
        Interval span{calls.start[row], calls.start[row] + calls.dur[row]};
        OsWaits& of = threads[thread];
        if (span.length() < kMinSleep) continue;
        if (known->second == OsWait::none)
            found.in_calls[thread].push_back(span);
        else
            (known->second == OsWait::inside ? of.inside : of.outside).push_back(span);
        if (known->second == OsWait::timed) found.timed[thread].push_back(span);
        if (known->second == OsWait::received) found.received[thread].push_back(span);
    }
    // With these, what other threads did is known better.
    bool states = trace.tables().cpu_slice.rows + trace.tables().stack_sample.rows > 0;
    for (auto& [thread, of] : threads) {
        of.outside = unite(std::move(of.outside));
        of.any = unite(of.outside, unite(Intervals(of.inside)));
    }
    for (auto& [thread, of] : threads) {
        Intervals& asleep = found.asleep[thread];
        asleep.insert(asleep.end(), of.outside.begin(), of.outside.end());
        for (const Interval& wait : of.inside)
            if (states || !any_works(threads, thread, wait)) asleep.push_back(wait);
    }
}

// Time of a thread inside calls of the driver.
IntervalSet calls_of(const Trace& trace, StringId thread) {
    IntervalSet calls;
    for (Row row = 0; row < trace.api_call().rows; ++row)
        if (trace.api_call().thread.value_or(row, kNoString) == thread)
            add_merged(calls, {trace.api_call().start[row], trace.api_call().start[row] + trace.api_call().dur[row]});
    return calls;
}

// Times beyond it could overflow.
bool is_usable(TimeNs time) { return time > -(TimeNs{1} << 61) && time < TimeNs{1} << 61; }

void observe_cpu_use(const Facts& facts, const std::set<StringId>& exact, Observed& found) {
    const CpuSampleTable& samples = facts.trace().tables().cpu_sample;
    struct Use {
        IntervalSet calls;
        Intervals hardly;
        double used = 0;
    };
    std::map<StringId, Use> threads;
    for (Row row = 0; row < samples.rows; ++row) {
        StringId thread = samples.thread.value_or(row, kNoString);
        if (!facts.get<Submitters>().has(thread) || exact.contains(thread) || !samples.user_ns.has(row)) continue;
        if (!samples.time.has(row) || !is_usable(samples.time[row]) || !is_usable(samples.dur[row])) continue;
        auto [use, added] = threads.try_emplace(thread);
        if (added) use->second.calls = calls_of(facts.trace(), thread);
        Interval span{samples.time[row], samples.time[row] + samples.dur[row]};
        DurNs outside = span.length() - length_within(use->second.calls, span);
        auto used = static_cast<double>(samples.user_ns[row]) + static_cast<double>(samples.system_ns.value_or(row, 0));
        use->second.used += used;
        if (outside > kMinSleep && used <= kHardlyUsed * static_cast<double>(outside))
            use->second.hardly.push_back(span);
    }
    for (auto& [thread, use] : threads) {
        if (use.used <= 0) continue;  // some virtual machines do not count CPU time
        found.known.insert(thread);
        found.asleep[thread].insert(found.asleep[thread].end(), use.hardly.begin(), use.hardly.end());
    }
}

void observe_scheduling(const Facts& facts, Observed& found) {
    const Trace& trace = facts.trace();
    std::set<StringId> exact;
    const CpuSliceTable& slices = trace.tables().cpu_slice;
    for (Row row = 0; row < slices.rows; ++row)
        if (slices.thread.has(row)) exact.insert(slices.thread[row]);
    for (const auto& [thread, states] : facts.get<ThreadStates>().of_thread) {
        auto in = [&all = states](ThreadState state) { return all[static_cast<std::size_t>(state)]; };
        for (ThreadState state : {ThreadState::runs, ThreadState::runs_partly})
            for (const Interval& span : in(state)) found.works[thread].push_back(span);
        if (!exact.contains(thread)) continue;
        found.known.insert(thread);
        for (const Interval& span : in(ThreadState::sleeps)) found.asleep[thread].push_back(span);
    }
    observe_cpu_use(facts, exact, found);
}

// What a stack says: whether its innermost function waits, and for a data loader.
struct StackMeaning {
    bool waits = false, loads = false;
};

StackMeaning meaning_of(std::string_view stack) {
    PythonFrame frame = parse_frame(innermost_frame(stack));
    StackMeaning found{waits_in_python(frame.function, frame.file)};
    if (found.waits)
        each_frame(stack, [&](std::string_view each) {
            found.loads |= names_loader(each);
            found.waits = found.waits && !asks_in_python(each);
        });
    return found;
}

// A sample stands for the time around it, up to half of the usual distance of samples of its thread.
void observe_stacks(const Trace& trace, Observed& found) {
    const StackSampleTable& samples = trace.tables().stack_sample;
    std::map<StringId, std::vector<Row>> rows;
    for (Row row = 0; row < samples.rows; ++row)
        if (samples.time.has(row) && samples.thread.has(row) && samples.stack.has(row) && is_usable(samples.time[row]))
            rows[samples.thread[row]].push_back(row);
    std::unordered_map<StringId, StackMeaning> stacks;
    for (const auto& [thread, of_thread] : rows) {
        if (of_thread.size() < 2) continue;
        std::vector<DurNs> distances;
        for (std::size_t i = 1; i < of_thread.size(); ++i)
            distances.push_back(samples.time[of_thread[i]] - samples.time[of_thread[i - 1]]);
        auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
        std::nth_element(distances.begin(), middle, distances.end());
        DurNs half = std::max<DurNs>(0, *middle) / 2;
        found.known.insert(thread);
        for (Row row : of_thread) {
            auto [known, added] = stacks.try_emplace(samples.stack[row]);
            if (added) known->second = meaning_of(trace.text(samples.stack[row]));
            Interval span{samples.time[row] - half, samples.time[row] + half};
            if (!known->second.waits)
                found.works[thread].push_back(span);
            else
                (known->second.loads ? found.for_input : found.asleep)[thread].push_back(span);
        }
    }
}

// Python calls that torch.profiler recorded: the innermost one says what the thread did.
void observe_python_calls(const Facts& facts, Observed& found) {
    const Trace& trace = facts.trace();
    const PythonCallTable& calls = trace.tables().python_call;
    std::vector<char> waits(trace.strings().size(), 0);  // 1: no, 2: yes, 3: for a set time
    bool any = false;
    for (Row row = 0; row < calls.rows; ++row) {
        StringId name = calls.name.value_or(row, kNoString);
        if (calls.thread.has(row)) found.known.insert(calls.thread[row]);
        if (name == kNoString || waits[index_of(name)] != 0) continue;
        PythonFrame frame = parse_python_call(trace.text(name));
        bool timed = frame.function == "<built-in function sleep>";
        waits[index_of(name)] = waits_in_python(frame.function, frame.file) ? (timed ? 3 : 2) : 1;
        any |= waits[index_of(name)] > 1;
    }
    if (!any) return;
    HostTimeline timeline(trace, {HostKind::python_call});
    for (StringId thread : facts.get<Submitters>().threads()) {
        HostThread spans = timeline.spans(thread);
        TimeNs now = trace.window().start;
        spans.each_innermost(trace.window(), [&](std::uint32_t at, DurNs dur) {
            Interval part{now, now + dur};
            now += dur;
            if (at == kNoSpan || spans.spans[at].name == kNoString) return;
            char wait = waits[index_of(spans.spans[at].name)];
            if (wait < 2) return;
            bool loads = false, asks = false;
            for (std::uint32_t each = at; each != kNoSpan; each = spans.spans[each].parent) {
                if (spans.spans[each].name == kNoString) continue;
                loads |= names_loader(trace.text(spans.spans[each].name));
                asks |= asks_in_python(trace.text(spans.spans[each].name));
            }
            if (asks) return;
            (loads ? found.for_input : found.asleep)[thread].push_back(part);
            if (wait == 3) found.timed[thread].push_back(part);
        });
    }
}

IntervalSet taken(ByThread& from, StringId thread) {
    auto found = from.find(thread);
    return found == from.end() ? IntervalSet() : unite(std::move(found->second));
}

// Starts of the calls of submitting threads of which nothing else was recorded: while they make calls, they work.
std::vector<std::vector<TimeNs>> calls_of_unknown(const Facts& facts, const Observed& found) {
    std::map<StringId, std::vector<TimeNs>> times;
    const ApiCallTable& calls = facts.trace().api_call();
    for (StringId thread : facts.get<Submitters>().threads())
        if (!found.known.contains(thread)) times[thread];
    for (Row row = 0; row < calls.rows && !times.empty(); ++row)
        if (auto known = times.find(calls.thread.value_or(row, kNoString)); known != times.end())
            known->second.push_back(calls.start[row]);
    std::vector<std::vector<TimeNs>> all;
    for (auto& [thread, starts] : times) all.push_back(std::move(starts));
    return all;
}

}  // namespace

HostSleeps HostSleeps::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    const Tables& tables = trace.tables();
    HostSleeps sleeps;
    Observed found;
    if (tables.os_call.rows > 0) observe_os_calls(trace, found);
    if (tables.cpu_slice.rows > 0 || tables.cpu_sample.rows > 0) observe_scheduling(facts, found);
    if (tables.stack_sample.rows > 0) observe_stacks(trace, found);
    if (tables.python_call.rows > 0) observe_python_calls(facts, found);
    sleeps.observed = found.known;
    if (found.asleep.empty() && found.for_input.empty()) return sleeps;
    std::map<StringId, IntervalSet> works;
    for (auto& [thread, spans] : found.works) works[thread] = unite(std::move(spans));
    std::vector<std::vector<TimeNs>> unknown = calls_of_unknown(facts, found);
    const Waits& waits = facts.get<Waits>();
    for (StringId thread : facts.get<Submitters>().threads()) {
        IntervalSet busy = unite(works[thread], taken(found.in_calls, thread));
        if (auto wait = waits.of_thread.find(thread); wait != waits.of_thread.end())
            busy = unite(busy, unite(Intervals(wait->second)));
        SleepingThread& of = sleeps.of_thread[thread];
        of.for_input = subtract(taken(found.for_input, thread), busy);
        auto none_works = [&](Interval sleep) {
            return std::none_of(works.begin(), works.end(), [&](const auto& other) {
                return other.first != thread && static_cast<double>(length_within(other.second, sleep)) >=
                                                    kWorkedInstead * static_cast<double>(sleep.length());
            });
        };
        Intervals asleep;
        for (const Interval& sleep : found.asleep[thread])
            if (none_works(sleep)) asleep.push_back(sleep);
        for (const Interval& sleep : subtract(subtract(unite(std::exchange(asleep, {})), busy), of.for_input)) {
            if (sleep.length() < kMinSleep) continue;
            Intervals parts{sleep};
            for (const std::vector<TimeNs>& calls : unknown) {  // from the first call of another thread to its last
                auto first = std::lower_bound(calls.begin(), calls.end(), sleep.start);
                auto after = std::lower_bound(calls.begin(), calls.end(), sleep.end);
                if (first != after) parts = subtract(parts, {{*first, after[-1] + 1}});
            }
            asleep.insert(asleep.end(), parts.begin(), parts.end());
        }
        of.for_work = unite(std::move(asleep));
        of.timed = intersect(taken(found.timed, thread), of.for_work);
        of.received = intersect(taken(found.received, thread), of.for_work);
        if (of.for_work.empty() && of.for_input.empty()) sleeps.of_thread.erase(thread);
    }
    return sleeps;
}

}  // namespace gpuprof::facts
