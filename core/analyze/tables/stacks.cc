// `stacks`: in which functions the sampled threads were, the busiest thread first, its functions by their own samples.
// A function is counted once a sample, however often it is on the stack (recursion). Samples are of wall time: a thread that
// waits is sampled too, in the function that waits.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "core/analyze/facts/stack_samples.h"
#include "core/analyze/tables/analysis_list.h"
#include "core/analyze/tables/cells.h"

namespace gpuprof {
namespace {

constexpr ResultColumn kColumns[] = {
    {"thread", CellType::text, Unit::none, "Key of the thread; absent when it is not known."},
    {"function", CellType::text, Unit::none, "Function, of Python or of native code."},
    {"file", CellType::text, Unit::none, "Its file."},
    {"self_samples", CellType::integer, Unit::count, "Samples in which it was the innermost function."},
    {"self_pct", CellType::real, Unit::percent, "self_samples of the thread's samples."},
    {"total_samples", CellType::integer, Unit::count, "Samples with it anywhere on the stack."},
    {"total_pct", CellType::real, Unit::percent, "total_samples of the thread's samples."},
    {"line", CellType::integer, Unit::none, "The line it was in most often while it was the innermost."},
    {"gil_pct", CellType::real, Unit::percent, "Part of self_samples in which the thread held the interpreter lock."},
};

struct Count {
    std::uint64_t self = 0, total = 0, known_gil = 0, gil = 0;
    std::map<std::int64_t, std::uint64_t> lines;
};
using Function = std::pair<std::string_view, std::string_view>;
struct Thread {
    std::uint64_t samples = 0;
    std::map<Function, Count> functions;
};

std::map<StringId, Thread> gather(const Trace& trace) {
    const StackSampleTable& samples = trace.tables().stack_sample;
    std::map<StringId, Thread> threads;
    for (Row row = 0; row < samples.rows; ++row) {
        if (!samples.stack.has(row)) continue;
        Thread& thread = threads[samples.thread.value_or(row, kNoString)];
        ++thread.samples;
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

template <class Map>
auto in_order(const Map& map, auto before) {
    std::vector<typename Map::const_iterator> order;
    for (auto at = map.begin(); at != map.end(); ++at) order.push_back(at);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return before(*a, *b); });
    return order;
}

void add_row(ResultTable& table, Cell key, const Thread& thread, const Function& function, const Count& count) {
    auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
    auto line = std::max_element(count.lines.begin(), count.lines.end(), less);
    table.add_row({key, text_cell(function.first), text_cell(function.second), integer(count.self),
                   percent(count.self, thread.samples), integer(count.total), percent(count.total, thread.samples),
                   line == count.lines.end() ? kAbsent : integer(line->first), percent(count.gil, count.known_gil)});
}

Result<ResultTable> run(const Facts& facts) {
    const Trace& trace = facts.trace();
    ResultTable table("stacks", kColumns);
    std::map<StringId, Thread> threads = gather(trace);
    auto text = [&](StringId id) { return id == kNoString ? std::string_view() : trace.text(id); };
    auto busier = [&](const auto& a, const auto& b) {
        return a.second.samples != b.second.samples ? a.second.samples > b.second.samples
                                                    : text(a.first) < text(b.first);
    };
    auto more_self = [](const auto& a, const auto& b) {
        return a.second.self != b.second.self ? a.second.self > b.second.self : a.second.total > b.second.total;
    };
    for (auto thread : in_order(threads, busier))
        for (auto function : in_order(thread->second.functions, more_self))
            add_row(table, text_cell(trace, thread->first), thread->second, function->first, function->second);
    if (table.rows() == 0)
        table.notes.push_back("no stacks were sampled; gpu-profile record --python 100 -- CMD samples them");
    return table;
}

}  // namespace

const Analysis kStacks{"stacks", "", "Per thread and sampled function: samples in it and below it.", kColumns, run};

}  // namespace gpuprof
