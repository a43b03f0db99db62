#include "core/model/build/merge_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "core/model/build/device_numbers.h"
#include "core/model/processes.h"
#include "core/schema/losses.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline model {

// The parts of a recording, to be merged into another.
Batch rows_of(Trace trace) {
    Batch rows;
    rows.tables = std::move(trace.tables_);
    rows.strings = std::move(trace.strings_);
    return rows;
}

Batch batch_of(Trace trace) {
    Batch rows = rows_of(std::move(trace));
    LossTable& losses = rows.tables.loss;
    PodVector<Row> kept;
    for (Row row = 0; row < losses.rows; ++row)
        if (!losses.kind.has(row) || !is_derived_loss(rows.strings[losses.kind[row]])) kept.push_back(row);
    losses.each_column([&](const ColumnSpec&, auto& column) { column.gather(kept); });
    losses.rows = kept.size();
    return rows;
}

namespace {

// Parts further apart than this do not belong to one job, and a trace would not hold both (trace_builder.cc).
constexpr DurNs kMaxStartDistance = DurNs{10} * 24 * 3600 * 1'000'000'000;

bool has_times(const Trace& trace) { return trace.full_window().start != 0 || trace.full_window().end != 0; }

std::set<std::string_view> hosts_of(const Trace& trace) {
    const ProcessTable& process = trace.tables().process;
    std::set<std::string_view> hosts;
    for (Row row = 0; row < process.rows; ++row)
        hosts.insert(process.host.has(row) ? trace.text(process.host[row]) : std::string_view());
    return hosts;
}

// The offset of each part's times, and what the user should know about it.
std::vector<DurNs> place_in_time(const std::vector<JobPart>& parts, Batch& about) {
    std::vector<DurNs> moves(parts.size(), 0);
    TimeNs first = std::numeric_limits<TimeNs>::max(), last = std::numeric_limits<TimeNs>::min();
    std::set<std::string_view> hosts;
    std::uint64_t timed = 0;
    const JobPart* earliest = nullptr;
    for (const JobPart& part : parts) {
        if (!has_times(part.trace)) continue;
        ++timed;
        hosts.merge(hosts_of(part.trace));
        if (part.trace.full_window().start < first) earliest = &part;
        first = std::min(first, part.trace.full_window().start);
        last = std::max(last, part.trace.full_window().start);
    }
    if (timed < 2) return moves;
    if (first >= kTimeOfDay && span_between(first, last) < kMaxStartDistance) {
        bool one_host = hosts.size() == 1 && !hosts.begin()->empty();
        if (!one_host) about.lose(Loss::clocks_of_hosts, earliest->name, timed);
        return moves;
    }
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (has_times(parts[i].trace)) moves[i] = span_between(parts[i].trace.full_window().start, first);
    about.lose(Loss::no_common_clock, earliest->name, timed);
    return moves;
}

// Keys of processes and threads: globally valid keys stay, others get the recording's name as a prefix.
class Keys {
public:
    Keys(Batch& rows, std::string_view name) : rows_(rows), name_(name) {
        const ProcessTable& process = rows.tables.process;
        for (Row row = 0; row < process.rows; ++row)
            if (is_host_and_pid(process, rows.strings, row)) known_.emplace(process.key[row], process.key[row]);
        const ThreadTable& thread = rows.tables.thread;
        for (Row row = 0; row < thread.rows; ++row)
            if (known_.contains(thread.process.value_or(row, kNoString)))
                known_.emplace(thread.key[row], thread.key[row]);
    }
    bool of_the_file(StringId key) const { return !known_.contains(key); }

    void rename_all() {
        rows_.tables.each_table([this](const TableSpec&, auto& table) {
            using Table = std::remove_cvref_t<decltype(table)>;
            if constexpr (std::is_same_v<Table, ProcessTable> || std::is_same_v<Table, ThreadTable>) rename(table.key);
            if constexpr (requires { table.process; }) rename(table.process);
            if constexpr (requires { table.thread; }) rename(table.thread);
        });
        rename(rows_.tables.flow.from_thread);
        rename(rows_.tables.flow.to_thread);
    }

private:
    void rename(Column<StringId>& keys) {
        for (Row row = 0; row < keys.size(); ++row)
            if (keys.has(row)) keys.change(row, renamed(keys[row]));
    }
    StringId renamed(StringId key) {
        auto [known, added] = known_.try_emplace(key, kNoString);
        if (added) known->second = rows_.intern(fmt::format("{}:{}", name_, std::string(rows_.strings[key])));
        return known->second;
    }

    Batch& rows_;
    std::string_view name_;
    std::unordered_map<StringId, StringId> known_;
};

void name_processes(Batch& rows, const Keys& keys, std::string_view file) {
    ProcessTable& process = rows.tables.process;
    Column<StringId> names;
    for (Row row = 0; row < process.rows; ++row) {
        std::string name(process.name.has(row) ? rows.strings[process.name[row]] : "");
        std::string place = process.rank.has(row) ? fmt::format("rank {}", process.rank[row]) : "";
        if (keys.of_the_file(process.key[row])) place += fmt::format("{}{}", place.empty() ? "" : ", ", file);
        if (name.empty() || place.empty())
            name += place;
        else
            name += fmt::format(" ({})", place);
        if (!name.empty()) names.set(row, rows.intern(name));
    }
    names.pad(process.rows);
    process.name = std::move(names);
}

// Device work and calls without a process get one per file, so that they are not linked to those of another file.
void adopt_strays(Batch& rows, std::string_view file) {
    StringId key = rows.intern(file);
    bool any = false;
    auto adopt = [&](auto& table) {
        if (table.process.all_present()) return;
        Column<StringId> filled;
        for (Row row = 0; row < table.rows; ++row) filled.set(row, table.process.value_or(row, key));
        any |= table.rows > 0;
        table.process = std::move(filled);
    };
    Tables& tables = rows.tables;
    adopt(tables.kernel);
    adopt(tables.memcpy);
    adopt(tables.memset);
    adopt(tables.sync);
    adopt(tables.api_call);
    adopt(tables.collective);
    if (!any) return;
    Row row = tables.process.add();
    tables.process.key.set(row, key);
    tables.process.name.set(row, key);
    tables.process.close();
}

// Numbers that are unique only within a recording continue after those of the previous parts.
class Numbers {
public:
    void make_disjoint(Tables& tables) {
        move({&tables.profiled_kernel.launch, &tables.kernel_counter.launch, &tables.kernel_advice.launch,
              &tables.instruction_counter.launch},
             launches_);
        move({&tables.call_node.node, &tables.call_node.parent, &tables.call_metric.node}, nodes_);
    }

private:
    static void move(std::initializer_list<Column<std::int64_t>*> columns, std::int64_t& free) {
        std::int64_t next = free;
        for (Column<std::int64_t>* column : columns)
            for (Row row = 0; row < column->size(); ++row) {
                if (!column->has(row)) continue;
                column->change(row, span_between(-free, (*column)[row]));
                next = std::max(next, span_between(-1, (*column)[row]));
            }
        free = next;
    }
    std::int64_t launches_ = 0, nodes_ = 0;
};

void name_facts(Batch& rows, std::string_view file) {
    Column<StringId>& keys = rows.tables.meta.key;
    for (Row row = 0; row < keys.size(); ++row) {
        if (!keys.has(row)) continue;
        std::string key(rows.strings[keys[row]]);
        bool of_process = std::find(std::begin(meta_key::kProcessFacts), std::end(meta_key::kProcessFacts), key) !=
                          std::end(meta_key::kProcessFacts);
        if (!of_process) keys.change(row, rows.intern(fmt::format("{}: {}", file, key)));
    }
}

// Losses name their file. Those that are found again when the job is joined are dropped.
void name_losses(Batch& rows, std::string_view file) {
    LossTable& losses = rows.tables.loss;
    for (Row row = 0; row < losses.rows; ++row) {
        std::string place(losses.place.has(row) ? rows.strings[losses.place[row]] : "");
        if (losses.place.has(row) && place.find(file) == std::string::npos)
            losses.place.change(row, rows.intern(fmt::format("{}: {}", file, place)));
    }
}

void note_renumbered(const DeviceNumbers& numbers, std::string_view file, Batch& about) {
    MetaTable& meta = about.tables.meta;
    for (auto [ordinal, number] : numbers) {
        if (ordinal == number) continue;
        Row row = meta.add();
        meta.key.set(row, about.intern(fmt::format("device.{}", number)));
        meta.value.set(row, about.intern(fmt::format("device {} of {}", ordinal, file)));
    }
}

}  // namespace

Trace merge_traces(std::vector<JobPart> parts, Origin origin, Batch about) {
    std::vector<DurNs> moves = place_in_time(parts, about);
    std::vector<NamedRecording> recordings;
    for (const JobPart& part : parts) recordings.push_back({part.name, &part.trace});
    std::vector<DeviceNumbers> devices = number_devices(recordings);
    TraceBuilder builder(std::move(origin));
    Numbers numbers;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        std::string_view file = parts[i].name;
        Batch rows = batch_of(std::move(parts[i].trace));
        shift_times(rows.tables, moves[i]);
        renumber_devices(rows.tables, devices[i]);
        numbers.make_disjoint(rows.tables);
        Keys keys(rows, file);
        name_processes(rows, keys, file);
        keys.rename_all();
        adopt_strays(rows, file);
        name_facts(rows, file);
        name_losses(rows, file);
        note_renumbered(devices[i], file, about);
        builder.append(std::move(rows));
    }
    builder.append(std::move(about));
    return std::move(builder).finish();
}

}  // namespace gpuprof::model
