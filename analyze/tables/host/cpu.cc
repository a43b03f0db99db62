// `cpu`: CPU use of each process and thread, busiest process first, with its threads below it, busiest first. A
// process's figures come from its own counters. They include threads that started and ended between two readings, so
// they are not the sum of the rows below. Percentages are of one CPU over the span in which CPU use was sampled: 250 %
// means two and a half CPUs all the time.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analyze/facts/idle/cpu_waits.h"
#include "analyze/facts/idle/submitters.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

// Counters tick every 10 ms, so shares of shorter intervals would be too coarse.
constexpr DurNs kMinInterval = 50'000'000;
// Larger values (above 70 years) are clamped so that sums do not overflow.
constexpr std::int64_t kMaxValue = std::int64_t{1} << 61;

std::int64_t plausible(std::int64_t value) { return std::clamp<std::int64_t>(value, 0, kMaxValue); }
void add_capped(DurNs& sum, DurNs more) { sum = std::min(sum + more, kMaxValue); }

struct Use {
    StringId process = kNoString, thread = kNoString;
    DurNs user = 0, system = 0, seen = 0;
    double largest_pct = -1;
    std::int64_t resident = -1;
    DurNs ready = 0, ready_seen = 0;  // the latter: length of the intervals in which ready is known
    bool ready_known = false;
    DurNs of_process = 0;  // used by the whole process
    DurNs cpu() const { return user + system; }
};

struct CpuUses {
    std::map<std::pair<StringId, StringId>, Use> by_key;
    TimeNs begin = kMaxValue, end = -kMaxValue;
    DurNs span() const { return end > begin ? end - begin : 0; }
};

CpuUses gather_uses(const CpuSampleTable& samples) {
    CpuUses uses;
    for (Row row = 0; row < samples.rows; ++row) {
        if (!samples.process.has(row) || !samples.time.has(row)) continue;
        StringId process = samples.process[row], thread = samples.thread.value_or(row, kNoString);
        Use& use = uses.by_key[{process, thread}];
        use.process = process;
        use.thread = thread;
        DurNs user = plausible(samples.user_ns.value_or(row, 0)),
              system = plausible(samples.system_ns.value_or(row, 0));
        DurNs dur = plausible(samples.dur.value_or(row, 0));
        add_capped(use.user, user);
        add_capped(use.system, system);
        add_capped(use.seen, dur);
        if (dur >= kMinInterval)
            use.largest_pct =
                std::max(use.largest_pct, 100 * static_cast<double>(user + system) / static_cast<double>(dur));
        if (samples.ready_ns.has(row)) {
            use.ready_known = true;
            add_capped(use.ready, plausible(samples.ready_ns[row]));
            add_capped(use.ready_seen, dur);
        }
        use.resident = std::max(use.resident, samples.resident_bytes.value_or(row, -1));
        TimeNs begin = std::clamp(samples.time[row], -kMaxValue, kMaxValue);
        uses.begin = std::min(uses.begin, begin);
        uses.end = std::max(uses.end, begin + dur);
    }
    return uses;
}

// Busiest process first, each before its threads, threads by use; ties by key.
std::vector<Use> in_order(const Trace& trace, const CpuUses& uses) {
    std::vector<Use> order;
    for (const auto& [key, use] : uses.by_key) {
        auto whole = uses.by_key.find({use.process, kNoString});
        order.push_back(use);
        order.back().of_process = whole == uses.by_key.end() ? 0 : whole->second.cpu();
    }
    auto place = [&](const Use& use) {
        return std::make_tuple(-use.of_process, trace.text(use.process), use.thread != kNoString, -use.cpu(),
                               trace.text(use.thread));
    };
    std::sort(order.begin(), order.end(), [&](const Use& a, const Use& b) { return place(a) < place(b); });
    return order;
}

std::map<StringId, StringId> names_of(const Tables& tables) {
    std::map<StringId, StringId> names;
    for (Row row = 0; row < tables.process.rows; ++row)
        if (tables.process.key.has(row)) names[tables.process.key[row]] = tables.process.name.value_or(row, kNoString);
    for (Row row = 0; row < tables.thread.rows; ++row)
        if (tables.thread.key.has(row)) names[tables.thread.key[row]] = tables.thread.name.value_or(row, kNoString);
    return names;
}

// Of the threads that launch device work, the one that waited longest for a CPU.
std::optional<CpuShortage> shortest_of_cpu(const Facts& facts, const CpuUses& uses) {
    const Trace& trace = facts.trace();
    const Use* most = nullptr;
    for (const auto& [key, use] : uses.by_key)
        if (use.ready_known && facts.get<Submitters>().has(use.thread) && (most == nullptr || use.ready > most->ready))
            most = &use;
    if (most == nullptr) return std::nullopt;
    return CpuShortage{trace.text(most->thread), most->ready, most->ready_seen};
}

struct CpuRow {
    const Trace& trace;
    const Use& use;
    StringId name;
    DurNs span;
};

constexpr auto kCpuColumns = columns_of<CpuRow>({
    {"process", CellType::text, Unit::none, "Process key.", [](auto& r) { return text_cell(r.trace, r.use.process); }},
    {"thread", CellType::text, Unit::none, "Thread key; absent for the whole process.",
     [](auto& r) { return text_cell(r.trace, r.use.thread); }},
    {"name", CellType::text, Unit::none, "Program name of the process, or thread name.",
     [](auto& r) { return text_cell(r.trace, r.name); }},
    {"cpu_ns", CellType::integer, Unit::ns, "CPU time.", [](auto& r) { return r.use.cpu(); }},
    {"user_ns", CellType::integer, Unit::ns, "CPU time in user mode.", [](auto& r) { return r.use.user; }},
    {"system_ns", CellType::integer, Unit::ns, "CPU time in the kernel.", [](auto& r) { return r.use.system; }},
    {"share_pct", CellType::real, Unit::percent, "cpu_ns as a share of the sampled span; 100 is one CPU.",
     [](auto& r) { return percent(r.use.cpu(), r.span); }},
    {"seen_ns", CellType::integer, Unit::ns, "Total length of its sampled intervals.",
     [](auto& r) { return r.use.seen; }},
    {"mean_pct", CellType::real, Unit::percent, "cpu_ns as a share of seen_ns.",
     [](auto& r) { return percent(r.use.cpu(), r.use.seen); }},
    {"max_pct", CellType::real, Unit::percent,
     "Highest share in any interval of at least 50 ms; absent if there is none.",
     [](auto& r) { return r.use.largest_pct >= 0 ? real(r.use.largest_pct) : kAbsent; }},
    {"ready_ns", CellType::integer, Unit::ns,
     "Time in which the thread could run but had no CPU; absent for whole processes, and if the system does not count "
     "it.",
     [](auto& r) { return r.use.ready_known ? integer(r.use.ready) : kAbsent; }},
    {"ready_pct", CellType::real, Unit::percent, "ready_ns as a share of the intervals in which it is known.",
     [](auto& r) { return r.use.ready_known ? percent(r.use.ready, r.use.ready_seen) : kAbsent; }},
    {"resident_max_bytes", CellType::integer, Unit::bytes, "Peak resident memory; only for whole processes.",
     [](auto& r) { return r.use.resident >= 0 ? integer(r.use.resident) : kAbsent; }},
});

Result<ResultTable> cpu_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    ResultTable table("cpu", kCpuColumns);
    CpuUses uses = gather_uses(trace.tables().cpu_sample);
    std::map<StringId, StringId> names = names_of(trace.tables());
    for (const Use& use : in_order(trace, uses)) {
        auto name = names.find(use.thread != kNoString ? use.thread : use.process);
        table.add(kCpuColumns, {trace, use, name == names.end() ? kNoString : name->second, uses.span()});
    }
    for (std::string& note : cpu_shortage_notes(facts, shortest_of_cpu(facts, uses)))
        table.notes.push_back(std::move(note));
    if (table.rows() == 0) table.notes.push_back("No CPU use was recorded; gpu-profile record -- CMD records it.");
    return table;
}

}  // namespace

const Analysis kCpu{"cpu", "", "Per process and thread: CPU use, busiest first.", kCpuColumns, cpu_table};

}  // namespace gpuprof::tables
