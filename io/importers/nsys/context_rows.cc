// Part of the nsys importer: the session, names, and metrics of GPUs and of the network.
#include <fmt/format.h>

#include <algorithm>

#include "io/importers/nsys/nsys_reader.h"
#include "io/importers/row_values.h"

namespace gpuprof::inline importers::nsys {

void Reader::read_session() {
    Scan start = scan("TARGET_INFO_SESSION_START_TIME");
    auto epoch = start.column("utcEpochNs");
    while (start.next())
        if (auto time = start.integer(epoch); time && *time > 0 && *time < (std::int64_t{1} << 61))
            session_start_ = time;
    for (const char* table : {"META_DATA_EXPORT", "META_DATA_CAPTURE"}) {
        Scan rows = scan(table);
        auto name = rows.column("name"), value = rows.column("value");
        while (rows.next()) {
            std::string key(rows.text(name));
            if (key.find("ENVIRONMENT") == std::string::npos) facts_.try_emplace(key, rows.text(value));
        }
    }
    Scan machine = scan("TARGET_INFO_SYSTEM_ENV");
    auto name = machine.column("name"), value = machine.column("value");
    while (machine.next())
        for (const char* wanted :
             {"Hostname", "NvDriverVersion", "CudaDriverVersion", "OsDescription", "CpuDescription"})
            if (machine.text(name) == wanted) facts_.try_emplace(wanted, machine.text(value));
    if (auto known = facts_.find("Hostname"); known != facts_.end()) host_name_ = known->second;
    constexpr std::pair<const char*, const char*> kShown[] = {
        {"EXPORT_SCHEMA_VERSION", "nsys.schema"},
        {"CUDA_GRAPH_TRACE_OPTIONS:MODE", "nsys.cuda_graph_trace"},
        {"NvDriverVersion", "driver_version"},
        {"CudaDriverVersion", "cuda_driver_version"},
        {"OsDescription", "os"},
        {"CpuDescription", "cpu"},
        {"CUDA_SKIP_SOME_API_CALLS", "nsys.skips_some_api_calls"}};
    for (auto [theirs, ours] : kShown)
        if (auto fact = facts_.find(theirs); fact != facts_.end()) {
            Row row = batch_.tables.meta.add();
            batch_.tables.meta.key.set(row, batch_.intern(ours));
            batch_.tables.meta.value.set(row, batch_.intern(fact->second));
        }
}

// Only processes and threads with activity; the file lists all of the machine.
void Reader::read_names() {
    std::map<std::int64_t, StringId> names, thread_names;
    Scan processes = scan("PROCESSES");
    auto pid = processes.column("pid"), name = processes.column("name");
    while (processes.next())
        if (auto id = processes.integer(pid); id && processes_.contains(*id))
            if (auto text = processes.text(name); !text.empty()) names[*id] = batch_.intern(text);
    ProcessTable& process = batch_.tables.process;
    for (Row row = 0; row < process.rows; ++row)
        if (auto known = names.find(process.pid[row]); known != names.end()) process.name.set(row, known->second);

    Scan threads = scan("ThreadNames");
    auto global = threads.column("globalTid"), text = threads.column("nameId");
    constexpr std::int64_t kBoth = (std::int64_t{1} << 48) - 1;
    while (threads.next())
        if (auto id = threads.integer(global); id && threads_.contains(*id & kBoth))
            if (StringId known = string(threads.integer(text)); known != kNoString) thread_names[*id & kBoth] = known;
    ThreadTable& thread = batch_.tables.thread;
    std::unordered_map<std::uint32_t, StringId> by_key;
    for (const auto& [id, known] : thread_names) by_key[index_of(threads_[id])] = known;
    for (Row row = 0; row < thread.rows; ++row)
        if (auto known = by_key.find(index_of(thread.key[row])); known != by_key.end())
            thread.name.set(row, known->second);
}

// "SMs Active [Throughput %]": the unit is in brackets. The low byte of typeId is the GPU.
void Reader::read_metrics() {
    struct Metric {
        StringId name, unit;
    };
    std::map<std::pair<std::int64_t, std::int64_t>, Metric> metrics;
    Scan info = scan("TARGET_INFO_GPU_METRICS");
    auto type = info.column("typeId"), id = info.column("metricId"), name = info.column("metricName");
    while (info.next()) {
        auto of_type = info.integer(type), metric = info.integer(id);
        if (!of_type || !metric) continue;
        std::string_view text = info.text(name), unit;
        if (std::size_t at = text.rfind(" ["); at != std::string_view::npos && text.ends_with("]")) {
            unit = text.substr(at + 2, text.size() - at - 3);
            text = text.substr(0, at);
        }
        if (unit.ends_with("%")) unit = "%";
        metrics[{*of_type, *metric}] = {batch_.intern(text), unit.empty() ? kNoString : batch_.intern(unit)};
    }
    Scan rows = scan("GPU_METRICS");
    auto time = rows.column("timestamp"), of = rows.column("typeId"), metric = rows.column("metricId"),
         value = rows.column("value");
    SampleTable& table = batch_.tables.sample;
    while (rows.next()) {
        auto at = times(rows, time, time);
        auto of_type = rows.integer(of), which = rows.integer(metric);
        auto number = rows.real(value);
        auto known = of_type && which ? metrics.find({*of_type, *which}) : metrics.end();
        if (!at) continue;
        if (known == metrics.end() || !number) {
            batch_.lose(Loss::missing_field, "GPU_METRICS");
            continue;
        }
        Row row = table.add();
        table.time.set(row, at->first);
        table.device.set(row, static_cast<std::int32_t>(*of_type & 0xFF));
        table.metric.set(row, known->second.name);
        set_known(table.unit, row, known->second.unit);
        table.value.set(row, *number);
    }
}

// Counters of network cards and switches. They belong to no GPU; the port is part of the metric's name.
void Reader::read_network() {
    std::map<std::int64_t, std::string> cards, by_network;  // by nicId; by the id in the metrics
    Scan info = scan("TARGET_INFO_NIC_INFO");
    auto nic = info.column("nicId"), card = info.column("name");
    while (info.next())
        if (auto id = info.integer(nic)) cards[*id] = info.text(card);
    Scan map = scan("NIC_ID_MAP");
    auto from = map.column("nicId"), to = map.column("globalId");
    while (map.next())
        if (auto id = map.integer(from), global = map.integer(to); id && global) by_network[*global] = cards[*id];
    struct Metric {
        std::string name;
        StringId unit;
    };
    std::map<std::pair<std::int64_t, std::int64_t>, Metric> metrics;
    Scan known = scan("TARGET_INFO_NETWORK_METRICS");
    auto list = known.column("metricsListId"), place = known.column("metricsIdx"), name = known.column("name"),
         unit = known.column("unit");
    while (known.next())
        if (auto in = known.integer(list), at = known.integer(place); in && at)
            metrics[{*in, *at}] = {std::string(known.text(name)),
                                   known.text(unit).empty() ? kNoString : batch_.intern(known.text(unit))};
    SampleTable& table = batch_.tables.sample;
    for (auto [source, what] : {std::pair("NET_NIC_METRIC", "NIC"), std::pair("NET_IB_SWITCH_METRIC", "switch")}) {
        Scan rows = scan(source);
        auto start = rows.column("start"), global = rows.column("globalId"), port = rows.column("portId"),
             in = rows.column("metricsListId"), index = rows.column("metricsIdx"), value = rows.column("value");
        while (rows.next()) {
            auto at = times(rows, start, start);
            auto number = rows.real(value);
            if (!at) continue;
            auto metric = metrics.find({rows.integer(in).value_or(-1), rows.integer(index).value_or(-1)});
            if (metric == metrics.end() || !number) {
                batch_.lose(Loss::missing_field, source);
                continue;
            }
            auto device = rows.integer(global);
            auto called = device ? by_network.find(*device) : by_network.end();
            std::string text = what;
            if (called != by_network.end() && !called->second.empty())
                text += " " + called->second;
            else if (device)
                text += fmt::format(" {:#x}", static_cast<std::uint64_t>(*device));
            if (auto on = rows.integer(port)) text += fmt::format(" port {}", *on);
            Row row = table.add();
            table.time.set(row, at->first);
            table.metric.set(row, batch_.intern(text + ": " + metric->second.name));
            set_known(table.unit, row, metric->second.unit);
            table.value.set(row, *number);
        }
    }
}

}  // namespace gpuprof::importers::nsys
