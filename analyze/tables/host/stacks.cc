// `stacks`: which functions was each thread in? Busiest thread first, its functions by self time. From sampled stack
// traces; without any, from the Python calls that the framework's profiler recorded, in time instead of samples.
// A function counts once per sample or moment, however often it is on the stack (recursion). Both are wall time: a
// waiting thread counts towards the function in which it waits.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/facts/host/stack_samples.h"
#include "analyze/facts/idle/host_timeline.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

// Samples, or nanoseconds of recorded calls.
struct Count {
    std::uint64_t self = 0, total = 0, known_gil = 0, gil = 0;
    std::map<std::int64_t, std::uint64_t> lines;
};
using Function = std::pair<std::string_view, std::string_view>;
struct SampledThread {
    std::uint64_t total = 0;
    std::map<Function, Count> functions;
};
using Threads = std::map<StringId, SampledThread>;

Threads gather_samples(const Trace& trace) {
    const StackSampleTable& samples = trace.tables().stack_sample;
    Threads threads;
    for (Row row = 0; row < samples.rows; ++row) {
        if (!samples.stack.has(row)) continue;
        SampledThread& thread = threads[samples.thread.value_or(row, kNoString)];
        ++thread.total;
        std::string_view stack = trace.text(samples.stack[row]);
        std::set<Function> met;
        each_frame(stack, [&](std::string_view text) {
            PythonFrame frame = parse_frame(text);
            Function function{frame.function, frame.file};
            if (met.insert(function).second) ++thread.functions[function].total;
        });
        PythonFrame leaf = parse_frame(innermost_frame(stack));
        Count& count = thread.functions[{leaf.function, leaf.file}];
        ++count.self;
        if (leaf.line >= 0) ++count.lines[leaf.line];
        count.known_gil += samples.holds_gil.has(row);
        count.gil += samples.holds_gil.value_or(row, 0) == 1;
    }
    return threads;
}

// Adds up the calls of one thread.
class CallSums {
public:
    CallSums(const Trace& trace, SampledThread& sums) : trace_(trace), sums_(sums) {}

    void add(const HostThread& calls) {
        if (calls.spans.empty()) return;
        Interval all{calls.spans[0].start, calls.spans[0].end};
        for (const HostSpan& span : calls.spans) all.end = std::max(all.end, span.end);
        add_self(calls, all);
        add_total(calls);
    }

private:
    struct Known {
        Count* count = nullptr;
        std::int64_t line = -1;
    };
    void add_self(const HostThread& calls, Interval all) {
        calls.each_innermost(all, [&](std::uint32_t at, DurNs dur) {
            if (at == kNoSpan) return;
            auto time = static_cast<std::uint64_t>(dur);
            const Known& leaf = known(calls.spans[at].name);
            leaf.count->self += time;
            if (leaf.line >= 0) leaf.count->lines[leaf.line] += time;
            sums_.total += time;
        });
    }
    // A call counts only if no enclosing call is of the same function.
    void add_total(const HostThread& calls) {
        std::unordered_map<const Count*, std::uint64_t> depth;
        std::vector<std::pair<std::uint32_t, const Count*>> open;
        for (std::uint32_t at = 0; at < calls.spans.size(); ++at) {
            const HostSpan& span = calls.spans[at];
            for (; !open.empty() && open.back().first != span.parent; open.pop_back()) --depth[open.back().second];
            Count* count = known(span.name).count;
            open.emplace_back(at, count);
            if (depth[count]++ == 0) count->total += static_cast<std::uint64_t>(span.end - span.start);
        }
    }
    const Known& known(StringId name) {
        auto [found, added] = known_.try_emplace(index_of(name));
        if (added) {
            PythonFrame frame = parse_python_call(trace_.text(name));
            found->second = {&sums_.functions[{frame.function, frame.file}], frame.line};
        }
        return found->second;
    }
    const Trace& trace_;
    SampledThread& sums_;
    std::unordered_map<std::uint32_t, Known> known_;  // by name
};

Threads gather_calls(const Trace& trace) {
    Threads threads;
    HostTimeline timeline(trace, {HostKind::python_call});
    for (StringId key : timeline.threads()) CallSums(trace, threads[key]).add(timeline.spans(key));
    return threads;
}

template <class Map>
auto in_order(const Map& map, auto before) {
    std::vector<typename Map::const_iterator> order;
    for (auto at = map.begin(); at != map.end(); ++at) order.push_back(at);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return before(*a, *b); });
    return order;
}

struct StacksRow {
    const Trace& trace;
    StringId key;
    const SampledThread& thread;
    const Function& function;
    const Count& count;
    PythonBasis basis;
    Cell when(PythonBasis wanted, std::uint64_t amount) const { return basis == wanted ? integer(amount) : kAbsent; }
};

Cell most_frequent_line(const Count& count) {
    auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
    auto line = std::max_element(count.lines.begin(), count.lines.end(), less);
    return line == count.lines.end() ? kAbsent : integer(line->first);
}

constexpr auto kStacksColumns = columns_of<StacksRow>({
    {"thread", CellType::text, Unit::none, "Thread key; absent when unknown.",
     [](auto& r) { return text_cell(r.trace, r.key); }},
    {"function", CellType::text, Unit::none, "Python or native function.",
     [](auto& r) { return text_cell(r.function.first); }},
    {"file", CellType::text, Unit::none, "Source file.", [](auto& r) { return text_cell(r.function.second); }},
    {"self_samples", CellType::integer, Unit::count,
     "Samples with the function innermost; absent if calls were recorded instead.",
     [](auto& r) { return r.when(PythonBasis::samples, r.count.self); }},
    {"self_pct", CellType::real, Unit::percent,
     "self_samples as a share of the thread's samples, or self_ns as a share of its time in recorded calls.",
     [](auto& r) { return percent(r.count.self, r.thread.total); }},
    {"total_samples", CellType::integer, Unit::count,
     "Samples with the function anywhere on the stack; absent if calls were recorded instead.",
     [](auto& r) { return r.when(PythonBasis::samples, r.count.total); }},
    {"total_pct", CellType::real, Unit::percent,
     "total_samples as a share of the thread's samples, or total_ns as a share of its time in recorded calls.",
     [](auto& r) { return percent(r.count.total, r.thread.total); }},
    {"line", CellType::integer, Unit::none,
     "Most frequent line while the function was innermost; for recorded calls, the line of its definition.",
     [](auto& r) { return most_frequent_line(r.count); }},
    {"gil_pct", CellType::real, Unit::percent, "Share of self_samples in which the thread held the GIL.",
     [](auto& r) { return percent(r.count.gil, r.count.known_gil); }},
    {"self_ns", CellType::integer, Unit::ns,
     "Time of recorded calls with the function innermost; absent if stacks were sampled.",
     [](auto& r) { return r.when(PythonBasis::time, r.count.self); }},
    {"total_ns", CellType::integer, Unit::ns,
     "Time of recorded calls with the function anywhere on the stack; absent if stacks were sampled.",
     [](auto& r) { return r.when(PythonBasis::time, r.count.total); }},
});

Result<ResultTable> stacks_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    ResultTable table("stacks", kStacksColumns);
    PythonBasis basis = trace.tables().stack_sample.rows > 0 ? PythonBasis::samples : PythonBasis::time;
    Threads threads = basis == PythonBasis::samples ? gather_samples(trace) : gather_calls(trace);
    auto text = [&](StringId id) { return id == kNoString ? std::string_view() : trace.text(id); };
    auto busier = [&](const auto& a, const auto& b) {
        return a.second.total != b.second.total ? a.second.total > b.second.total : text(a.first) < text(b.first);
    };
    auto more_self = [](const auto& a, const auto& b) {
        return a.second.self != b.second.self ? a.second.self > b.second.self : a.second.total > b.second.total;
    };
    for (auto thread : in_order(threads, busier))
        for (auto function : in_order(thread->second.functions, more_self))
            table.add(kStacksColumns, {trace, thread->first, thread->second, function->first, function->second, basis});
    if (table.rows() == 0)
        table.notes.push_back(
            "No Python stack traces were recorded; gpu-profile record --python 100 -- CMD samples them, and "
            "torch.profiler records calls with with_stack=True.");
    else if (basis == PythonBasis::time)
        table.notes.push_back(
            "Times are from recorded Python calls; recording overhead makes short functions look slower.");
    return table;
}

}  // namespace

const Analysis kStacks{"stacks", "", "Per thread and Python function: self and total samples or time.", kStacksColumns,
                       stacks_table};

}  // namespace gpuprof::tables
