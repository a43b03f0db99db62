#include "analyze/facts/memory/memory_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <tuple>

#include "analyze/facts/memory/cuda_allocations.h"

namespace gpuprof::inline facts {
namespace {

constexpr DurNs kMaxShift_ns = 1'000'000'000;

// What the allocator holds. It reports that with an allocation or release of a block; the segments that CUDA calls made
// or released since then are added.
std::optional<std::int64_t> reserved_at(const ProcessMemory& memory, TimeNs at) {
    std::optional<std::int64_t> reserved = memory.reserved.at(at), now = memory.segments.at(at);
    if (!reserved) return memory.finds_segments ? now : std::nullopt;
    TimeNs reported = std::min(at, memory.reserved.set_at(at) + kClockTolerance_ns);
    std::optional<std::int64_t> then = memory.segments.at(reported);
    return now && then ? *reserved + *now - *then : *reserved;
}

// What is recorded of a process at a time, without its rest.
ProcessAccount recorded_at(const ProcessMemory& memory, TimeNs at) {
    ProcessAccount account;
    account.memory = &memory;
    account.allocated = memory.allocated.at(at);
    account.calls = memory.calls.at(at);
    std::optional<std::int64_t> segments = memory.segments.at(at);
    if (!account.allocated) {
        // The framework's recorder was not at work, so its segments are allocations like any other.
        if (account.calls) account.calls = *account.calls + segments.value_or(0);
        return account;
    }
    std::optional<std::int64_t> reserved = reserved_at(memory, at);
    if (reserved) account.cached = *reserved - *account.allocated;
    if (!reserved || !account.calls) return account;
    // Segments without a recorded block look like other allocations, and are a part of `reserved` already.
    std::int64_t missing = std::max<std::int64_t>(0, *reserved - segments.value_or(0));
    if (!memory.finds_segments && memory.has_addresses) return account;  // segments that no cudaMalloc made
    account.calls_may_be_segments = std::min(missing, *account.calls);
    account.calls = *account.calls - account.calls_may_be_segments;
    return account;
}

bool same_sources(const ProcessAccount& a, const ProcessAccount& b) {
    return a.allocated.has_value() == b.allocated.has_value() && a.cached.has_value() == b.cached.has_value() &&
           a.calls.has_value() == b.calls.has_value();
}

// The sample nearest to a time, the later one of two; there is at least one.
std::pair<TimeNs, std::int64_t> sample_near(const DeviceMemory& memory, TimeNs time) {
    const auto& used = memory.used;
    auto after = std::lower_bound(used.begin(), used.end(), time, [](const auto& a, TimeNs t) { return a.first < t; });
    if (after == used.begin()) return *after;
    bool is_nearer = after != used.end() && after->first - time <= time - std::prev(after)->first;
    return is_nearer ? *after : *std::prev(after);
}

// The times at which the recorded memory of a process changed within [from, to].
std::vector<TimeNs> changes_within(const ProcessMemory& memory, TimeNs from, TimeNs to) {
    std::vector<TimeNs> times;
    for (const HeldBytes* each : {&memory.allocated, &memory.reserved, &memory.segments, &memory.calls}) {
        const auto& steps = each->steps();
        auto step =
            std::lower_bound(steps.begin(), steps.end(), from, [](const auto& s, TimeNs t) { return s.first < t; });
        for (; step != steps.end() && step->first <= to; ++step) times.push_back(step->first);
    }
    return times;
}

// How much the recorded memory of a process differs from that at `at` within the tolerance of a sample's time.
std::int64_t churn_at(const ProcessAccount& now, TimeNs at) {
    std::int64_t most = 0;
    for (TimeNs time : changes_within(*now.memory, at - kSampleTolerance_ns, at + kSampleTolerance_ns))
        for (TimeNs each : {time - 1, time})
            if (ProcessAccount then = recorded_at(*now.memory, each); same_sources(now, then))
                most = std::max(most, std::abs(then.recorded() - now.recorded()));
    return most;
}

// The least shift of the recorded allocations with which they fit into `bytes` at `time`.
std::optional<DurNs> shift_that_fits(const ProcessMemory& memory, TimeNs time, std::int64_t bytes) {
    std::optional<DurNs> least;
    for (TimeNs change : changes_within(memory, time - kMaxShift_ns, time + kMaxShift_ns))
        for (TimeNs then : {change - 1, change}) {
            if (recorded_at(memory, then).recorded() > bytes) continue;
            DurNs shift = time - then;
            if (!least || std::abs(shift) < std::abs(*least)) least = shift;
        }
    return least;
}

// Processes as one list of NVML has them, carried over to the moment of the account.
struct Attribution {
    MemoryAccount account;
    bool works = false;
};

Attribution attribute(const DeviceMemory& memory, MemoryAccount account, const ProcessPoll& poll) {
    account.listed_at = poll.time;
    std::int64_t expected_change = 0, of_processes = 0;
    std::map<std::int64_t, std::int64_t> others = poll.bytes;
    for (ProcessAccount& process : account.processes) {
        auto listed = process.memory->pid ? poll.bytes.find(*process.memory->pid) : poll.bytes.end();
        bool is_absent = listed == poll.bytes.end();
        if (is_absent && !process.memory->is_active(account.at)) continue;
        if (is_absent) {
            account.reason = process.memory->pid
                                 ? fmt::format("NVML's nearest list of processes lacks process {}, which was recorded",
                                               *process.memory->pid)
                                 : "which process allocated is not recorded";
            return {std::move(account), false};
        }
        others.erase(listed->first);
        ProcessAccount then = recorded_at(*process.memory, poll.time);
        bool moves = same_sources(process, then);
        std::int64_t change = moves ? process.recorded() - then.recorded() : 0;
        process.listed = listed->second;
        process.rest = listed->second + change - process.recorded();
        expected_change += change;
        of_processes += listed->second + change;
    }
    for (auto [pid, bytes] : others) {
        of_processes += bytes;
        account.others.emplace_back(pid, bytes);
    }
    std::stable_sort(account.others.begin(), account.others.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    account.device_rest = *account.used - of_processes;
    account.unexplained = *account.used - sample_near(memory, poll.time).second - expected_change;
    return {std::move(account), true};
}

// The lists of processes before and after a moment.
std::vector<const ProcessPoll*> lists_around(const DeviceMemory& memory, TimeNs at) {
    std::vector<const ProcessPoll*> found;
    auto after = std::lower_bound(memory.polls.begin(), memory.polls.end(), at,
                                  [](const ProcessPoll& poll, TimeNs time) { return poll.time < time; });
    auto add = [&](const ProcessPoll& poll) {
        if (std::abs(poll.time - at) <= kMaxListDistance_ns) found.push_back(&poll);
    };
    if (after != memory.polls.begin()) add(*std::prev(after));
    if (after != memory.polls.end()) add(*after);
    return found;
}

std::string reason_without_lists(const DeviceMemory& memory) {
    if (memory.polls.empty() && memory.pid_without_bytes)
        return "NVML lists processes but not their memory (MIG instances, WSL and missing permission are reasons)";
    if (memory.polls.empty()) return "no memory per process was sampled";
    return "NVML listed processes only more than 2 s away";
}

}  // namespace

MemoryAccount account_at(const DeviceMemory& memory, TimeNs at, std::optional<std::int64_t> used) {
    MemoryAccount account;
    account.at = at;
    account.used = used;
    std::int64_t recorded = 0;
    for (const ProcessMemory& process : memory.processes) {
        account.processes.push_back(recorded_at(process, at));
        recorded += account.processes.back().recorded();
    }
    if (!used) return account;
    std::optional<Attribution> best;
    std::string reason;
    if (memory.pid_without_bytes && !memory.polls.empty())
        reason = fmt::format("NVML does not report the memory of process {}", *memory.pid_without_bytes);
    else
        for (const ProcessPoll* list : lists_around(memory, at)) {
            Attribution found = attribute(memory, account, *list);
            if (!found.works) reason = found.account.reason;
            if (!found.works) continue;
            if (!best || std::abs(found.account.unexplained) < std::abs(best->account.unexplained))
                best = std::move(found);
        }
    if (best) return std::move(best->account);
    account.reason = reason.empty() ? reason_without_lists(memory) : reason;
    account.not_attributed = *used - recorded;
    return account;
}

std::optional<MemoryAccount> account_at_peak(const DeviceMemory& memory) {
    auto peak = std::max_element(memory.used.begin(), memory.used.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; });
    if (peak != memory.used.end()) return account_at(memory, peak->first, peak->second);
    // Most memory; of equal moments, that with most in use; of these, the first.
    using Moment = std::tuple<std::int64_t, std::int64_t, TimeNs>;
    std::optional<Moment> most;
    for (const ProcessMemory& process : memory.processes)
        for (const HeldBytes* each : {&process.allocated, &process.segments, &process.calls})
            for (auto [time, bytes] : each->steps()) {
                Moment now{0, 0, -time};
                for (const ProcessMemory& other : memory.processes) {
                    ProcessAccount account = recorded_at(other, time);
                    std::get<0>(now) += account.recorded();
                    std::get<1>(now) += account.allocated.value_or(0);
                }
                if (!most || now > *most) most = now;
            }
    if (!most) return std::nullopt;
    return account_at(memory, -std::get<2>(*most), std::nullopt);
}

MemoryAccount account_near(const DeviceMemory& memory, TimeNs time) {
    if (memory.used.empty()) return account_at(memory, time, std::nullopt);
    auto [at, used] = sample_near(memory, time);
    return account_at(memory, at, used);
}

void explain(MemoryAccount& account) {
    account.churn = 0;
    for (ProcessAccount& process : account.processes) {
        account.churn += churn_at(process, account.at);
        if (account.listed_at && *account.listed_at != account.at && process.rest)
            account.churn += churn_at(recorded_at(*process.memory, *account.listed_at), *account.listed_at);
        if (process.rest.value_or(0) < 0)
            process.agrees_after = shift_that_fits(*process.memory, *account.listed_at, *process.listed);
    }
}

}  // namespace gpuprof::facts
