// OpForest, the part before the trees: maps records to threads, and device work to ids.
#include "analyze/facts/host/op_tree.h"

#include <algorithm>

namespace gpuprof::inline facts {
namespace {

constexpr std::uint32_t kHidden = 0xFFFFFFFFu;
constexpr std::string_view kStepPrefix = "ProfilerStep#", kAllSteps = "ProfilerStep*";

// Names that PyTorch excludes from every average (torch/autograd/profiler_util.py, _filter_name).
constexpr std::string_view kHiddenNames[] = {"profiler::_record_function_enter",
                                             "profiler::_record_function_enter_new",
                                             "profiler::_record_function_exit",
                                             "aten::is_leaf",
                                             "aten::output_nr",
                                             "aten::_version",
                                             "[memory]",
                                             "[OutOfMemory]"};

}  // namespace

OpForest::OpForest(const Trace& trace)
    : trace_(trace),
      threads_(trace.tables().thread.key, trace.strings().size()),
      processes_(trace.tables().process.key, trace.strings().size()) {
    // With at most one process, everything belongs to it, whatever the records say.
    bool one = trace.tables().process.rows <= 1;
    process_of_.assign(threads_.size(), one ? 0 : processes_.other());
    const ThreadTable& threads = trace.tables().thread;
    for (Row row = 0; row < threads.rows && !one; ++row)
        process_of_[threads_.of(threads.key.value_or(row, kNoString))] =
            processes_.of(threads.process.value_or(row, kNoString));
    name_records();
    find_operators_by_id();
    find_stopping_threads();
    place_records();
    operators_ = {};  // before the sums need the memory
    sum_device_work();
    if (unlinked_any_) find_last_calls();
}

std::string_view OpForest::name_text(std::uint32_t name) const {
    if (name < trace_.strings().size()) return trace_.text(StringId{name});
    return name == trace_.strings().size() ? kAllSteps : std::string_view();
}

void OpForest::name_records() {
    const StringPool& strings = trace_.strings();
    name_.resize(strings.size());
    StringId folded = strings.find(kAllSteps);
    std::uint32_t steps = folded == kNoString ? static_cast<std::uint32_t>(strings.size()) : index_of(folded);
    for (std::uint32_t id = 0; id < name_.size(); ++id)
        name_[id] = strings[StringId{id}].starts_with(kStepPrefix) ? steps : id;
    for (std::string_view hidden : kHiddenNames)
        if (StringId id = strings.find(hidden); id != kNoString) name_[index_of(id)] = kHidden;
}

template <class Table>
std::uint32_t OpForest::process_of_thread_row(const Table& table, Row row) const {
    return process_of_[threads_.of(table.thread.value_or(row, kNoString))];
}

void OpForest::find_operators_by_id() {
    operators_.resize(processes_.size());
    auto each = [&](const auto& visit) {
        auto walk = [&](const auto& table) {
            for (Row row = 0; row < table.rows; ++row)
                if (table.external_id.has(row))
                    visit(operators_[process_of_thread_row(table, row)], table.external_id[row],
                          threads_.of(table.thread.value_or(row, kNoString)));
        };
        walk(trace_.op());
        walk(trace_.range());
    };
    each([](IdMap<std::uint32_t>& map, std::int64_t id, std::uint32_t) { map.note(id); });
    for (auto& map : operators_) map.prepare(kNoRow);
    each([](IdMap<std::uint32_t>& map, std::int64_t id, std::uint32_t thread) { map.at(id) = thread; });
}

void OpForest::sum_device_work() {
    linked_.resize(processes_.size());
    unlinked_.resize(processes_.size());
    bool one = trace_.tables().process.rows <= 1;
    auto each = [&](const auto& visit) {
        auto walk = [&](const auto& table) {
            for (Row row = 0; row < table.rows; ++row) {
                if (!table.external_id.has(row)) continue;
                std::uint32_t process = one ? 0 : processes_.of(table.process.value_or(row, kNoString));
                bool linked = op_link(table, row).has_value();
                unlinked_any_ |= !linked;
                visit((linked ? linked_ : unlinked_)[process], table.external_id[row], table.dur[row]);
            }
        };
        walk(trace_.kernel());
        walk(trace_.memcpy());
        walk(trace_.memset());
    };
    each([](IdMap<DurNs>& map, std::int64_t id, DurNs) { map.note(id); });
    for (auto& map : linked_) map.prepare(0);
    for (auto& map : unlinked_) map.prepare(0);
    DurNs whole = 0;
    each([&](IdMap<DurNs>& map, std::int64_t id, DurNs dur) {
        overflowed_ |= __builtin_add_overflow(whole, dur, &whole);
        if (!overflowed_) map.at(id) += dur;
    });
}

// The recording does not name the thread that stopped the profiler; tests/oracle/README.md, step 1, describes how to
// find it.
void OpForest::find_stopping_threads() {
    enum Sign { step, main_thread, any, signs };
    struct First {
        TimeNs start[signs] = {INT64_MAX, INT64_MAX, INT64_MAX};
        std::uint32_t thread[signs] = {kNoRow, kNoRow, kNoRow};
    };
    std::vector<First> first(processes_.size());
    std::vector<bool> is_main(threads_.size());
    const ThreadTable& threads = trace_.tables().thread;
    const ProcessTable& processes = trace_.tables().process;
    std::vector<std::optional<std::int64_t>> pid(processes_.size());
    for (Row row = 0; row < processes.rows; ++row) pid[processes_.of(processes.key[row])] = processes.pid.get(row);
    for (Row row = 0; row < threads.rows; ++row) {
        auto process = pid[processes_.of(threads.process.value_or(row, kNoString))];
        is_main[threads_.of(threads.key.value_or(row, kNoString))] = process && threads.tid.get(row) == process;
    }
    auto walk = [&](const auto& table) {
        for (Row row = 0; row < table.rows; ++row) {
            std::uint32_t thread = threads_.of(table.thread.value_or(row, kNoString));
            First& to = first[process_of_[thread]];
            auto offer = [&](Sign sign) {
                if (table.start[row] >= to.start[sign]) return;
                to.start[sign] = table.start[row];
                to.thread[sign] = thread;
            };
            if (table.name.has(row) && trace_.text(table.name[row]).starts_with(kStepPrefix)) offer(step);
            if (is_main[thread]) offer(main_thread);
            offer(any);
        }
    };
    walk(trace_.op());
    walk(trace_.range());
    for (const First& found : first) {
        const auto* sign =
            std::find_if(std::begin(found.thread), std::end(found.thread), [](auto t) { return t != kNoRow; });
        stopper_.push_back(sign == std::end(found.thread) ? threads_.other() : *sign);
    }
}

// Step 1: calls with a link run on their operator's thread, calls without one on the stopping thread.
std::uint32_t OpForest::tree_of_call(Row row) const {
    const ApiCallTable& calls = trace_.api_call();
    std::uint32_t own = threads_.of(calls.thread.value_or(row, kNoString));
    std::uint32_t process = process_of_[own];
    if (!calls.external_id.has(row)) return stopper_[process];
    std::optional<std::int64_t> link = op_link(calls, row);
    std::uint32_t linked = link ? operators_[process].find(*link) : kNoRow;
    return linked == kNoRow ? own : linked;
}

void OpForest::place_records() {
    auto hidden = [&](const auto& table, Row row) {
        return table.name.has(row) && name_[index_of(table.name[row])] == kHidden;
    };
    auto own = [&](const auto& table) {
        return RowGroups(table.rows, threads_.size(), [&](Row row) {
            return hidden(table, row) ? RowGroups::kLeftOut : threads_.of(table.thread.value_or(row, kNoString));
        });
    };
    const ApiCallTable& calls = trace_.api_call();
    const OverheadTable& overhead = trace_.tables().overhead;
    StringId annotation = trace_.strings().find("user_annotation");
    records_.push_back(own(trace_.op()));
    records_.push_back(RowGroups(trace_.range().rows, threads_.size(), [&](Row row) {
        bool counts = annotation != kNoString && trace_.range().domain.value_or(row, kNoString) == annotation;
        return !counts || hidden(trace_.range(), row) ? RowGroups::kLeftOut
                                                      : threads_.of(trace_.range().thread.value_or(row, kNoString));
    }));
    records_.push_back(RowGroups(calls.rows, threads_.size(), [&](Row row) {
        return hidden(calls, row) ? RowGroups::kLeftOut : tree_of_call(row);
    }));
    records_.push_back(RowGroups(overhead.rows, threads_.size(), [&](Row row) {
        return overhead.thread.has(row) ? threads_.of(overhead.thread[row]) : stopper_[0];
    }));
}

void OpForest::find_last_calls() {
    const ApiCallTable& calls = trace_.api_call();
    last_call_.resize(processes_.size());
    auto each_call = [&](const auto& visit) {
        for (Row row = 0; row < calls.rows; ++row)
            if (calls.correlation.has(row))
                visit(last_call_[process_of_thread_row(calls, row)], calls.correlation[row], row);
    };
    each_call([](IdMap<Row>& map, std::int64_t id, Row) { map.note(id); });
    for (auto& map : last_call_) map.prepare(kNoRow);
    each_call([](IdMap<Row>& map, std::int64_t id, Row row) { map.at(id) = row; });
}

}  // namespace gpuprof::facts
