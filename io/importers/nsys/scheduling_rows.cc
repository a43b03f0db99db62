// Part of the nsys importer: when threads ran on CPUs, from SCHED_EVENTS, and which context had a GPU, from
// GPU_CONTEXT_SWITCH_EVENTS. A row says that a thread was given a CPU or lost it;
// two rows make one stretch of cpu_slice. Rows are not always in order of time. A thread that lost a CPU without having been
// given one ran before the recording, one that still has its CPU ran to the last event.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "io/importers/nsys/nsys_reader.h"
#include "io/importers/row_values.h"

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
        set_text(batch_, table.end_state, row, end);
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

// A context has its GPU from the start of its restoring to the end of its saving. A turn that began before the recording, or
// that lasted beyond its last switch, has no known length and is skipped.
void Reader::read_context_switches() {
    // Tags by ENUM_GPU_CTX_SWITCH; these numbers were seen where that table is empty.
    std::int64_t begins = 8, ends = 7;
    Scan labels = scan("ENUM_GPU_CTX_SWITCH");
    auto id = labels.column("id"), label = labels.column("name");
    while (labels.next())
        if (auto number = labels.integer(id)) {
            if (labels.text(label).ends_with("RESTORE_START")) begins = *number;
            if (labels.text(label).ends_with("SAVE_END")) ends = *number;
        }
    struct Switch {
        TimeNs time;
        std::int64_t order, context, pid;
        std::int32_t gpu;
        bool begin;
    };
    std::vector<Switch> switches;
    Scan rows = scan("GPU_CONTEXT_SWITCH_EVENTS");
    auto time = rows.column("timestamp"), tag = rows.column("tag"), order = rows.column("seqNo"),
         context = rows.column("contextId"), process = rows.column("globalPid"), gpu = rows.column("gpuId");
    while (rows.next()) {
        auto at = times(rows, time, time);
        auto what = rows.integer(tag), which = rows.integer(context);
        if (!at || !which || (what != begins && what != ends)) continue;
        auto owner = rows.integer(process);
        switches.push_back({at->first, rows.integer(order).value_or(0), *which, owner ? pid_of(*owner) : -1,
                            rows.narrow(gpu).value_or(0), what == begins});
    }
    std::stable_sort(switches.begin(), switches.end(), [](const Switch& a, const Switch& b) {
        return a.time != b.time ? a.time < b.time : a.order < b.order;
    });
    GpuSliceTable& table = batch_.tables.gpu_slice;
    std::map<std::pair<std::int32_t, std::int64_t>, Switch> open;  // by GPU and context
    for (const Switch& each : switches) {
        std::pair key(each.gpu, each.context);
        if (each.begin) {
            open[key] = each;
            continue;
        }
        auto begun = open.find(key);
        if (begun == open.end()) continue;
        Row row = table.add();
        table.start.set(row, begun->second.time);
        table.dur.set(row, span_between(begun->second.time, each.time));
        table.device.set(row, each.gpu);
        table.context.set(row, each.context);
        if (each.pid >= 0) table.pid.set(row, each.pid);
        open.erase(begun);
    }
}

}  // namespace gpuprof::importers::nsys
