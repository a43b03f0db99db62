// Part of the nsys importer: when threads ran on CPUs, from SCHED_EVENTS. A row says that a thread was given a CPU or lost it;
// two rows make one stretch of cpu_slice. Rows are not always in order of time. A thread that lost a CPU without having been
// given one ran before the recording, one that still has its CPU ran to the last event.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "io/importers/nsys/nsys_reader.h"

namespace gpuprof::inline importers::nsys {
namespace {

struct ContextSwitch {
    TimeNs time;
    std::int64_t thread;  // global id
    std::int32_t cpu, state;
    bool in;
};

// Source: ENUM_SAMPLING_THREAD_STATE, of which many versions write only 0, unknown.
std::string_view end_of_stretch(std::int32_t state) {
    switch (state) {
        case 1:                      // running
        case 6: return "preempted";  // unscheduled
        case 2:                      // interruptible
        case 3:                      // uninterruptible
        case 4:                      // stopped
        case 7: return "blocked";    // waiting
        default: return "";
    }
}

}  // namespace

void Reader::read_scheduling() {
    Scan rows = scan("SCHED_EVENTS");
    auto start = rows.column("start"), cpu = rows.column("cpu"), in = rows.column("isSchedIn"),
         thread = rows.column("globalTid"), state = rows.column("threadState");
    std::vector<ContextSwitch> switches;
    while (rows.next()) {
        auto at = times(rows, start, start);
        auto global = rows.integer(thread);
        if (at && !global) batch_.lose(Loss::missing_field, "globalTid");
        if (!at || !global) continue;
        switches.push_back({at->first, *global, rows.narrow(cpu).value_or(-1), rows.narrow(state).value_or(0),
                            rows.integer(in).value_or(0) != 0});
    }
    std::stable_sort(switches.begin(), switches.end(),
                     [](const ContextSwitch& a, const ContextSwitch& b) { return a.time < b.time; });
    CpuSliceTable& table = batch_.tables.cpu_slice;
    auto add = [&](const ContextSwitch& given, TimeNs until, std::string_view end) {
        Row row = table.add();
        Host runs = host(given.thread);
        table.start.set(row, given.time);
        table.dur.set(row, span_between(given.time, until));
        table.process.set(row, runs.process);
        table.thread.set(row, runs.thread);
        if (given.cpu >= 0) table.cpu.set(row, given.cpu);
        if (!end.empty()) table.end_state.set(row, batch_.intern(end));
    };
    std::unordered_map<std::int64_t, ContextSwitch> running;  // by thread
    for (const ContextSwitch& each : switches) {
        auto known = running.find(each.thread);
        if (each.in) {
            // The event between two of these is missing: how long the first stretch was is unknown.
            if (known != running.end()) batch_.lose(Loss::missing_field, "SCHED_EVENTS");
            running[each.thread] = each;
        } else if (known != running.end()) {
            add(known->second, each.time, end_of_stretch(each.state));
            running.erase(known);
        }
    }
    std::vector<ContextSwitch> last;
    for (const auto& [id, given] : running) last.push_back(given);
    std::sort(last.begin(), last.end(), [](const ContextSwitch& a, const ContextSwitch& b) {
        return a.time != b.time ? a.time < b.time : a.thread < b.thread;
    });
    for (const ContextSwitch& given : last) add(given, switches.back().time, "");
}

}  // namespace gpuprof::importers::nsys
