// The account of the memory of simulated machines whose true parts are known, recorded in every way that leaves something
// out. Parts must add up to NVML's value, and be as near to the truth as they say.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <random>

#include "analyze/facts/facts.h"
#include "analyze/facts/memory/memory_account.h"
#include "tests/unit/analyze/memory_draft.h"

namespace gpuprof {
namespace {

// What a machine does, and what recorders see of it.
struct MemoryScenario {
    std::string name;
    bool framework = true, calls = true, lists = true;
    bool expandable = false;     // segments are not made by cudaMalloc
    bool trims = false;          // the framework releases empty segments, which is no event of its allocator
    bool others_change = false;  // a process that is not recorded allocates and releases
    TimeNs calls_from = 0, calls_to = 1'000'000 * kMillisecond;
    TimeNs framework_from = 0, framework_to = 1'000'000 * kMillisecond;
    DurNs lag = 0;  // a sample shows the state of so much earlier
};

// One device, two recorded processes. Each step is a millisecond; samples every 20, lists every 1000.
class Machine {
public:
    Machine(const MemoryScenario& scenario, unsigned seed) : scenario_(scenario), random_(seed) {}

    struct Truth {
        std::int64_t used = 0, allocated = 0, cached = 0, calls = 0, others = 0;
        std::map<std::int64_t, std::int64_t> of_process;
    };

    Trace run() {
        for (std::int64_t pid : {100, 101}) {
            Process& process = processes_[pid];
            process.key = "p" + std::to_string(pid);
            process.context = below(300, 600);
            draft_.process(process.key, pid);
            draft_.work(process.key, 0, 0, kSteps * kMillisecond);
            if (scenario_.framework)
                draft_.op(process.key, scenario_.framework_from,
                          std::min<TimeNs>(scenario_.framework_to, kSteps * kMillisecond), "step");
        }
        for (int step = 0; step < kSteps; ++step) {
            TimeNs now = step * kMillisecond;
            for (auto& [pid, process] : processes_)
                if (step > 0) act(process, now);
            if (scenario_.others_change && step % 700 == 350) other_ += below(0, 3) * 50 * kMiB;
            truth_[now] = state();
            if (step % 20 == 10) sample(now, step % 1000 == 510);
        }
        return draft_.finish();
    }
    const Truth& at(TimeNs time) const { return std::prev(truth_.upper_bound(time))->second; }

private:
    static constexpr int kSteps = 3000;
    struct Segment {
        std::int64_t address, bytes, in_use;
    };
    struct Process {
        std::string key;
        std::int64_t context = 0, allocated = 0, reserved = 0, calls = 0;
        std::vector<Segment> segments;
        std::map<std::int64_t, std::pair<std::int64_t, std::size_t>> blocks;  // bytes and segment by address
        std::map<std::int64_t, std::int64_t> workspaces;
    };

    std::int64_t below(std::int64_t from, std::int64_t to) {
        return from + static_cast<std::int64_t>(random_() % static_cast<unsigned>(to - from));
    }
    void note_call(Process& process, TimeNs now, std::int64_t address, std::int64_t bytes) {
        if (scenario_.calls && now >= scenario_.calls_from && now <= scenario_.calls_to)
            draft_.call(process.key, 0, now, address, bytes);
    }
    void note_block(Process& process, TimeNs now, std::int64_t address, std::int64_t bytes) {
        if (scenario_.framework && now >= scenario_.framework_from && now <= scenario_.framework_to)
            draft_.block(process.key, 0, now, address, bytes, process.allocated, process.reserved);
    }

    void act(Process& process, TimeNs now) {
        auto what = random_() % 10;
        if (what < 4) allocate(process, now);
        if (what >= 4 && what < 7 && !process.blocks.empty()) release(process, now);
        if (what == 9 && scenario_.trims && random_() % 20 == 0) trim(process, now);
        if (what == 7 && random_() % 20 == 0) {
            std::int64_t address = next(), bytes = below(1, 64) * kMiB;
            process.workspaces[address] = bytes;
            process.calls += bytes;
            note_call(process, now, address, bytes);
        }
        if (what == 8 && random_() % 40 == 0 && !process.workspaces.empty()) {
            auto [address, bytes] = *process.workspaces.begin();
            process.workspaces.erase(process.workspaces.begin());
            process.calls -= bytes;
            note_call(process, now, address, -bytes);
        }
    }
    void allocate(Process& process, TimeNs now) {
        std::int64_t bytes = below(1, 40) * (kMiB / 2);
        std::size_t chosen = 0;
        while (chosen < process.segments.size() &&
               process.segments[chosen].in_use + bytes > process.segments[chosen].bytes)
            ++chosen;
        if (chosen == process.segments.size()) {
            process.segments.push_back({next(), 40 * kMiB, 0});
            process.reserved += 40 * kMiB;
            if (!scenario_.expandable) note_call(process, now, process.segments.back().address, 40 * kMiB);
        }
        // Blocks only need distinct addresses in their segment.
        Segment& segment = process.segments[chosen];
        std::int64_t address = segment.address;
        while (process.blocks.contains(address)) address += 512;
        segment.in_use += bytes;
        process.blocks[address] = {bytes, chosen};
        process.allocated += bytes;
        note_block(process, now, address, bytes);
    }
    void release(Process& process, TimeNs now) {
        auto chosen = std::next(process.blocks.begin(), random_() % process.blocks.size());
        auto [address, block] = *chosen;
        process.blocks.erase(chosen);
        process.segments[block.second].in_use -= block.first;
        process.allocated -= block.first;
        note_block(process, now, address, -block.first);
    }
    void trim(Process& process, TimeNs now) {
        for (Segment& segment : process.segments) {
            if (segment.in_use > 0 || segment.bytes == 0) continue;
            process.reserved -= segment.bytes;
            note_call(process, now, segment.address, -segment.bytes);
            segment.bytes = 0;
        }
    }
    std::int64_t next() { return address_ += 0x10000000; }

    Truth state() const {
        Truth truth;
        truth.others = other_;
        truth.used = other_ + kDriver;
        for (const auto& [pid, process] : processes_) {
            std::int64_t all = process.context * kMiB + process.reserved + process.calls;
            truth.of_process[pid] = all;
            truth.used += all;
            truth.allocated += process.allocated;
            truth.cached += process.reserved - process.allocated;
            truth.calls += process.calls;
        }
        return truth;
    }
    void sample(TimeNs now, bool lists) {
        const Truth& seen = at(std::max<TimeNs>(0, now - scenario_.lag));
        draft_.used(0, now, seen.used);
        if (!lists || !scenario_.lists) return;
        for (auto [pid, bytes] : seen.of_process) draft_.used(0, now, bytes, pid);
        draft_.used(0, now, seen.others, 999);
    }

    static constexpr std::int64_t kDriver = 77 * kMiB;
    const MemoryScenario& scenario_;
    std::mt19937 random_;
    MemoryDraft draft_;
    std::map<std::int64_t, Process> processes_;
    std::int64_t other_ = 500 * kMiB, address_ = 0x100000000;
    std::map<TimeNs, Truth> truth_;
};

struct Sums {
    std::int64_t allocated = 0, cached = 0, calls = 0, rest = 0, others = 0, open = 0;
    bool has_framework = false, has_calls = false;
};

Sums sums_of(const MemoryAccount& account) {
    Sums sums;
    for (const ProcessAccount& process : account.processes) {
        sums.allocated += process.allocated.value_or(0);
        sums.cached += process.cached.value_or(0);
        sums.calls += process.calls.value_or(0);
        sums.rest += process.rest.value_or(0);
        sums.open += process.calls_may_be_segments;
        sums.has_framework |= process.allocated.has_value();
        sums.has_calls |= process.calls.has_value();
    }
    for (auto [pid, bytes] : account.others) sums.others += bytes;
    return sums;
}

class PlantedTruth : public testing::TestWithParam<MemoryScenario> {};

TEST_P(PlantedTruth, PartsAreAsNearToItAsTheySay) {
    const MemoryScenario& scenario = GetParam();
    for (unsigned seed = 1; seed <= 4; ++seed) {
        Machine machine(scenario, seed);
        Trace trace = machine.run();
        Facts facts(trace, {});
        const DeviceMemory& memory = facts.get<DeviceMemories>().by_device.at(0);
        ASSERT_EQ(memory.used.size(), 150u);
        int attributed = 0;
        for (auto [time, used] : memory.used) {
            SCOPED_TRACE(scenario.name + ", seed " + std::to_string(seed) + ", ms " +
                         std::to_string(time / kMillisecond));
            MemoryAccount account = account_at(memory, time, used);
            explain(account);
            Sums sums = sums_of(account);
            EXPECT_EQ(sums.allocated + sums.cached + sums.calls + sums.rest + sums.others +
                          account.device_rest.value_or(0) + account.not_attributed.value_or(0),
                      used);
            EXPECT_EQ(account.not_attributed.has_value(), !account.device_rest.has_value());
            const Machine::Truth& truth = machine.at(time);
            if (sums.has_framework) {
                EXPECT_EQ(sums.allocated, truth.allocated);
                EXPECT_EQ(sums.cached, truth.cached);
            }
            if (sums.has_calls && scenario.calls_from == 0) {
                std::int64_t all = sums.has_framework ? truth.calls : truth.calls + truth.cached + truth.allocated;
                if (!sums.has_framework && scenario.expandable) all = truth.calls;
                EXPECT_EQ(sums.calls, all);
            }
            if (!account.device_rest) continue;
            ++attributed;
            std::int64_t error = std::abs(account.unexplained) + account.churn;
            EXPECT_LE(std::abs(sums.others - truth.others), error);
            EXPECT_LE(std::abs(*account.device_rest - 77 * kMiB), error);
            std::int64_t processes = sums.allocated + sums.cached + sums.calls + sums.rest, true_processes = 0;
            for (auto [pid, bytes] : truth.of_process) true_processes += bytes;
            EXPECT_LE(std::abs(processes - true_processes), error);
        }
        EXPECT_EQ(attributed, scenario.lists ? 150 : 0);
    }
}

MemoryScenario scenario(std::string name, void (*change)(MemoryScenario&)) {
    MemoryScenario made;
    made.name = std::move(name);
    change(made);
    return made;
}

INSTANTIATE_TEST_SUITE_P(Recorders, PlantedTruth,
                         testing::Values(scenario("everything", [](MemoryScenario&) {}),
                                         scenario("trims", [](MemoryScenario& s) { s.trims = true; }),
                                         scenario("framework", [](MemoryScenario& s) { s.calls = false; }),
                                         scenario("calls", [](MemoryScenario& s) { s.framework = false; }),
                                         scenario("samples", [](MemoryScenario& s) { s.framework = s.calls = false; }),
                                         scenario("no_lists", [](MemoryScenario& s) { s.lists = false; }),
                                         scenario("expandable", [](MemoryScenario& s) { s.expandable = true; }),
                                         scenario("others", [](MemoryScenario& s) { s.others_change = true; }),
                                         scenario("profiled_window",
                                                  [](MemoryScenario& s) {
                                                      s.framework_from = 1200 * kMillisecond,
                                                      s.framework_to = 1900 * kMillisecond;
                                                  }),
                                         scenario("recorded_late",
                                                  [](MemoryScenario& s) { s.calls_from = 800 * kMillisecond; }),
                                         scenario("lag", [](MemoryScenario& s) { s.lag = 7 * kMillisecond; })),
                         [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace gpuprof
