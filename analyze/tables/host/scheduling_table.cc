// `scheduling`: when did threads have a CPU, and when did they wait for one though they could run? One row per thread whose
// time on CPUs was recorded, most time first. Preempted time begins when the scheduler takes the CPU from a thread that
// could go on, and ends when the thread has one again.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "analyze/facts/idle/cpu_waits.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct ScheduledThread {
    StringId process = kNoString, key = kNoString;
    DurNs on_cpu = 0;
    std::size_t slices = 0, preemptions = 0, migrations = 0;
    std::set<std::int32_t> cpus;
    std::int32_t last_cpu = 0;
};

struct SchedulingRow {
    const Trace& trace;
    const ScheduledThread& thread;
    StringId name;
    bool ends_known;
    DurNs waited = 0, longest = 0;
};

constexpr auto kSchedulingColumns = columns_of<SchedulingRow>({
    {"process", CellType::text, Unit::none, "Process key.",
     [](auto& r) { return text_cell(r.trace, r.thread.process); }},
    {"thread", CellType::text, Unit::none, "Thread key.", [](auto& r) { return text_cell(r.trace, r.thread.key); }},
    {"name", CellType::text, Unit::none, "Name of the thread.", [](auto& r) { return text_cell(r.trace, r.name); }},
    {"cpu_ns", CellType::integer, Unit::ns, "Time on a CPU.", [](auto& r) { return r.thread.on_cpu; }},
    {"slices", CellType::integer, Unit::count, "Number of uninterrupted stretches of it.",
     [](auto& r) { return r.thread.slices; }},
    {"preemptions", CellType::integer, Unit::count,
     "Stretches that ended although the thread could go on; absent if the recorder does not tell.",
     [](auto& r) { return r.ends_known ? integer(r.thread.preemptions) : kAbsent; }},
    {"preempted_ns", CellType::integer, Unit::ns,
     "Time from these until the thread had a CPU again. Waits in which records of a CPU were lost do not count.",
     [](auto& r) { return r.ends_known ? integer(r.waited) : kAbsent; }},
    {"preempted_pct", CellType::real, Unit::percent, "preempted_ns as a share of cpu_ns + preempted_ns.",
     [](auto& r) { return r.ends_known ? percent(r.waited, r.thread.on_cpu + r.waited) : kAbsent; }},
    {"preempted_max_ns", CellType::integer, Unit::ns, "The longest of these waits.",
     [](auto& r) { return r.ends_known ? integer(r.longest) : kAbsent; }},
    {"cpus", CellType::integer, Unit::count, "Number of CPUs that it ran on.",
     [](auto& r) { return r.thread.cpus.empty() ? kAbsent : integer(r.thread.cpus.size()); }},
    {"migrations", CellType::integer, Unit::count, "How often a stretch was on another CPU than the one before.",
     [](auto& r) { return r.thread.cpus.empty() ? kAbsent : integer(r.thread.migrations); }},
});

std::vector<ScheduledThread> gather_threads(const Trace& trace) {
    const CpuSliceTable& table = trace.tables().cpu_slice;
    std::map<StringId, ScheduledThread> threads;
    for (Row row = 0; row < table.rows; ++row) {  // by start
        if (!table.thread.has(row)) continue;
        ScheduledThread& thread = threads[table.thread[row]];
        thread.key = table.thread[row];
        thread.process = table.process.value_or(row, thread.process);
        thread.on_cpu += table.dur[row];
        ++thread.slices;
        if (table.end_state.has(row) && trace.text(table.end_state[row]) == kPreempted) ++thread.preemptions;
        if (!table.cpu.has(row)) continue;
        if (!thread.cpus.empty() && thread.last_cpu != table.cpu[row]) ++thread.migrations;
        thread.cpus.insert(thread.last_cpu = table.cpu[row]);
    }
    std::vector<ScheduledThread> order;
    for (auto& [key, thread] : threads) order.push_back(std::move(thread));
    std::sort(order.begin(), order.end(), [&](const ScheduledThread& a, const ScheduledThread& b) {
        return a.on_cpu != b.on_cpu ? a.on_cpu > b.on_cpu : trace.text(a.key) < trace.text(b.key);
    });
    return order;
}

// Whether the recorder knew how stretches ended. That of a thread's end has no state.
bool has_ends(const CpuSliceTable& table) {
    for (Row row = 0; row < table.rows; ++row)
        if (table.thread.has(row) && table.end_state.has(row)) return true;
    return false;
}

std::map<StringId, StringId> names_of(const ThreadTable& threads) {
    std::map<StringId, StringId> names;
    for (Row row = 0; row < threads.rows; ++row)
        if (threads.key.has(row)) names[threads.key[row]] = threads.name.value_or(row, kNoString);
    return names;
}

Result<ResultTable> scheduling_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    ResultTable table("scheduling", kSchedulingColumns);
    table.handle_prefix = "sched";
    const auto& waits = facts.get<CpuWaits>().of_thread;
    bool ends_known = has_ends(trace.tables().cpu_slice);
    std::map<StringId, StringId> names = names_of(trace.tables().thread);
    for (const ScheduledThread& thread : gather_threads(trace)) {
        auto name = names.find(thread.key);
        SchedulingRow row{trace, thread, name == names.end() ? kNoString : name->second, ends_known};
        if (auto found = waits.find(thread.key); found != waits.end())
            for (const Interval& wait : found->second) {
                row.waited += wait.length();
                row.longest = std::max(row.longest, wait.length());
            }
        table.add(kSchedulingColumns, row);
    }
    if (table.rows() == 0)
        table.notes.push_back("No scheduling was recorded; gpu-profile record --scheduling -- CMD records it.");
    return table;
}

}  // namespace

const Analysis kScheduling{"scheduling", "", "Per thread: time on CPUs, and preemptions.", kSchedulingColumns,
                           scheduling_table};

}  // namespace gpuprof::tables
