#include "core/model/processes.h"

#include <fmt/format.h>

#include <set>
#include <unordered_map>

namespace gpuprof::inline model {
namespace {

// The only process of the calls, or else of the trace; kNoString if there are several or none.
StringId only_process(const Tables& tables) {
    std::set<StringId> processes;
    const ApiCallTable& calls = tables.api_call;
    for (Row row = 0; row < calls.rows && processes.size() < 2; ++row)
        if (calls.process.has(row)) processes.insert(calls.process[row]);
    for (Row row = 0; row < tables.process.rows && calls.rows == 0; ++row) processes.insert(tables.process.key[row]);
    return processes.size() == 1 ? *processes.begin() : kNoString;
}

// kNoString for an id that several processes use.
using ProcessOfCall = std::unordered_map<std::int64_t, StringId>;

ProcessOfCall index_calls(const ApiCallTable& calls) {
    ProcessOfCall index;
    for (Row row = 0; row < calls.rows; ++row) {
        if (!calls.correlation.has(row) || !calls.process.has(row)) continue;
        auto [known, added] = index.emplace(calls.correlation[row], calls.process[row]);
        if (!added && known->second != calls.process[row]) known->second = kNoString;
    }
    return index;
}

template <class Table, class Find>
void fill(Table& table, Find process_of) {
    if (table.process.all_present()) return;
    Column<StringId> filled;
    for (Row row = 0; row < table.rows; ++row) {
        StringId process = table.process.has(row) ? table.process[row] : process_of(table, row);
        if (process != kNoString) filled.set(row, process);
    }
    filled.pad(table.rows);
    table.process = std::move(filled);
}

template <class Find>
void fill_all(Tables& tables, Find process_of) {
    fill(tables.kernel, process_of);
    fill(tables.memcpy, process_of);
    fill(tables.memset, process_of);
    fill(tables.sync, process_of);
    fill(tables.collective, process_of);
}

bool anything_to_fill(const Tables& tables) {
    return !tables.kernel.process.all_present() || !tables.memcpy.process.all_present() ||
           !tables.memset.process.all_present() || !tables.sync.process.all_present() ||
           !tables.collective.process.all_present();
}

}  // namespace

void adopt_processes(Tables& tables) {
    if (!anything_to_fill(tables)) return;
    if (StringId only = only_process(tables); only != kNoString)
        return fill_all(tables, [only](const auto&, Row) { return only; });
    ProcessOfCall index = index_calls(tables.api_call);
    fill_all(tables, [&](const auto& table, Row row) {
        auto known = table.correlation.has(row) ? index.find(table.correlation[row]) : index.end();
        return known == index.end() ? kNoString : known->second;
    });
}

bool is_host_and_pid(const ProcessTable& process, const StringPool& strings, Row row) {
    return process.host.has(row) &&
           strings[process.key[row]].starts_with(fmt::format("{}:", strings[process.host[row]]));
}

}  // namespace gpuprof::model
