// Importer for the JSON of rocprofv3 (`--output-format json`): for each process its agents, the names of kinds and kernels,
// and lists of records, whose meaning is that of rocpd's tables. Times are ns of the system's boot clock.
// Format: ROCm/rocm-systems, projects/rocprofiler-sdk, source/lib/output/generateJSON.cpp and
// source/include/rocprofiler-sdk/cxx/serialization/save.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/model/build/submission.h"
#include "io/importers/amd_rows.h"
#include "io/importers/formats.h"
#include "io/importers/rocpd/rocpd_reader.h"
#include "io/importers/row_values.h"
#include "io/importers/source/json_document.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/torch/values.h"

namespace gpuprof::inline importers {
namespace rocpd {
namespace {

using simdjson::dom::element;
using torch::JsonView;

// {"handle": 7}, or 7 in some versions.
std::optional<std::int64_t> handle(const JsonView& id) {
    auto number = id["handle"].integer();
    return number ? number : id.integer();
}

// Addresses are texts: "0x00007f".
std::optional<std::int64_t> address_of(const JsonView& value) {
    if (auto number = value.integer()) return number;
    std::string_view text = value.text();
    return text.starts_with("0x") ? number_in<std::uint64_t>(text.substr(2), 16) : std::nullopt;
}

class JsonProcess {
public:
    JsonProcess(const element& process, Batch& batch, HostPlaces& places, GpuNumbers& gpus, MemoryLimit& limit,
                std::size_t other_bytes)
        : element_(process),
          process_(process),
          batch_(batch),
          places_(places),
          gpus_(gpus),
          limit_(limit),
          other_bytes_(other_bytes) {}

    Status read() {
        read_names();
        JsonView records = process_["buffer_records"];
        records.each_pair([&](std::string_view name, const JsonView& list) {
            each(list, [&](const JsonView& record) { read_record(name, record); });
            return !full_;
        });
        each(process_["callback_records"]["counter_collection"], [&](const JsonView& record) { counters(record); });
        amd::write_allocations(batch_, std::move(allocations_));
        if (copies_ == 0) amd::lose_untraced_copies(batch_, copy_calls_);
        if (full_) return limit_.error();
        return {};
    }

private:
    struct Agent {
        bool gpu = false;
        std::int64_t node = 0;
        std::int32_t among_gpus = 0;
        std::string name;
        element facts;
    };
    struct Symbol {
        StringId name = kNoString;
        std::optional<std::int64_t> registers;
    };
    struct RecordKind {
        std::string name, api;
        std::vector<std::string_view> operations;
    };

    template <class Visit>
    void each(const JsonView& list, Visit visit) {
        list.each([&](const JsonView& item) {
            visit(item);
            full_ = full_ || limit_.is_below(batch_, other_bytes_);
            return !full_;
        });
    }

    void read_names() {
        JsonView about = process_["metadata"];
        host_ = about["node"]["hostname"].text();
        auto [row, key] = places_.add_process(about["pid"].integer().value_or(0));
        owner_ = key;
        std::string command;
        about["command"].each([&](const JsonView& word) {
            command.append(command.empty() ? "" : " ").append(word.text());
            return true;
        });
        ProcessTable& table = batch_.tables.process;
        set_text(batch_, table.command, row, command);
        set_text(batch_, table.host, row, host_);
        process_["strings"]["buffer_records"].each([&](const JsonView& kind) {
            RecordKind& known = kinds_.emplace_back();
            known.name = kind["kind"].text();
            known.api = amd::api_of(known.name);
            kind["operations"].each([&](const JsonView& operation) {
                known.operations.push_back(operation.text());
                return true;
            });
            return true;
        });
        process_["strings"]["marker_api"].each([&](const JsonView& message) {
            if (auto id = message["key"].integer()) messages_.emplace(*id, message["value"].text());
            return true;
        });
        read_agents();
        process_["kernel_symbols"].each([&](const JsonView& symbol) {
            auto id = symbol["kernel_id"].integer();
            std::string_view name = symbol["formatted_kernel_name"].text();
            if (name.empty()) name = symbol["kernel_name"].text();
            if (name.ends_with(".kd")) name.remove_suffix(3);
            if (id) symbols_[*id] = {batch_.intern(name), symbol["arch_vgpr_count"].integer()};
            return true;
        });
        process_["counters"].each([&](const JsonView& counter) {
            if (auto id = handle(counter["id"])) counters_.emplace(*id, batch_.intern(counter["name"].text()));
            return true;
        });
    }

    void read_agents() {
        simdjson::dom::array agents;
        std::int32_t gpus = 0;
        if (element_["agents"].get(agents) != simdjson::SUCCESS) return;
        for (element facts : agents) {
            constexpr std::int64_t kGpu = 2;
            JsonView agent(facts);
            auto id = handle(agent["id"]);
            if (!id) continue;
            Agent known;
            known.gpu = agent["type"].integer() == kGpu;
            known.node = agent["node_id"].integer().value_or(*id);
            auto among = agent["logical_node_type_id"].integer();
            known.among_gpus = among && *among >= 0 && *among < 4096 ? static_cast<std::int32_t>(*among) : gpus;
            gpus += known.gpu ? 1 : 0;
            known.name = agent["product_name"].text();
            if (known.name.empty()) known.name = agent["name"].text();
            known.facts = facts;
            agents_.emplace(*id, std::move(known));
        }
    }

    bool is_gpu(std::optional<std::int64_t> agent) const {
        auto known = agent ? agents_.find(*agent) : agents_.end();
        return known != agents_.end() && known->second.gpu;
    }
    // A file lists all agents of the machine; GPUs that did something become rows.
    std::optional<std::int32_t> device(std::optional<std::int64_t> id) {
        if (!is_gpu(id)) return std::nullopt;
        const Agent& agent = agents_.find(*id)->second;
        auto [number, added] = gpus_.number(host_, agent.node, agent.among_gpus);
        if (added) amd::add_gpu(batch_, number, agent.name, agent.facts);
        return number;
    }
    StringId thread(const JsonView& record) {
        auto tid = record["thread_id"].integer();
        return tid ? places_.thread(owner_, *tid) : kNoString;
    }
    const RecordKind* kind_of(const JsonView& record) const {
        auto kind = record["kind"].integer();
        return kind && *kind >= 0 && *kind < std::ssize(kinds_) ? &kinds_[static_cast<std::size_t>(*kind)] : nullptr;
    }
    std::string_view operation_of(const JsonView& record) const {
        const RecordKind* kind = kind_of(record);
        auto operation = record["operation"].integer();
        bool known = kind != nullptr && operation && *operation >= 0 && *operation < std::ssize(kind->operations);
        return known ? kind->operations[static_cast<std::size_t>(*operation)] : std::string_view();
    }

    template <class Table>
    std::optional<Row> span_row(Table& table, const JsonView& record) {
        constexpr std::int64_t kLatest = std::int64_t{1} << 60;  // ns
        auto start = record["start_timestamp"].integer();
        if (!start || *start <= 0 || *start >= kLatest) {
            batch_.lose(start ? Loss::time_out_of_range : Loss::missing_field, "start_timestamp");
            return std::nullopt;
        }
        return add_span(table, *start, span_between(*start, record["end_timestamp"].integer().value_or(*start)));
    }
    DeviceWork work_of(const JsonView& record, std::optional<std::int64_t> stream, std::optional<std::int64_t> agent) {
        DeviceWork work;
        work.process = owner_;
        work.device = device(agent);
        work.stream = stream;
        work.correlation = record["correlation_id"]["internal"].integer();
        work.graph = record["graph_exec_id"].integer();
        work.graph_node = record["graph_node_id"].integer();
        return work;
    }

    void read_record(std::string_view list, const JsonView& record) {
        if (list == "kernel_dispatch") return kernel(record, record["dispatch_info"], record["stream_id"]);
        if (list == "memory_copy") return copy(record);
        if (list == "memory_allocation") return allocation(record);
        if (list == "marker_api") return marker(record);
        const RecordKind* kind = kind_of(record);
        if (list.ends_with("_api") && (kind == nullptr || !kind->api.empty())) return call(list, record);
        if (list != "scratch_memory") batch_.lose_named(Loss::unread_table, "", list);
    }

    void kernel(const JsonView& record, const JsonView& about, const JsonView& stream) {
        KernelTable& table = batch_.tables.kernel;
        auto row = span_row(table, record);
        if (!row) return;
        if (auto id = about["dispatch_id"].integer()) dispatches_.emplace(*id, *row);
        auto on = handle(stream);
        if (!on) on = handle(about["queue_id"]);
        set_work(table, *row, work_of(record, on, handle(about["agent_id"])));
        auto symbol = symbols_.find(about["kernel_id"].integer().value_or(-1));
        if (symbol != symbols_.end()) {
            table.name.set(*row, symbol->second.name);
            set_small(table.registers, *row, symbol->second.registers);
        }
        set_count(table.local_bytes, *row, about["private_segment_size"].integer());
        set_count(table.shared_bytes, *row, about["group_segment_size"].integer());
        JsonView grid = about["grid_size"], block = about["workgroup_size"];
        amd::put_shape(table, *row,
                       {{grid["x"].integer(), block["x"].integer()},
                        {grid["y"].integer(), block["y"].integer()},
                        {grid["z"].integer(), block["z"].integer()}});
    }

    void copy(const JsonView& record) {
        MemcpyTable& table = batch_.tables.memcpy;
        auto row = span_row(table, record);
        if (!row) return;
        ++copies_;
        auto source = handle(record["src_agent_id"]), target = handle(record["dst_agent_id"]);
        bool reads = is_gpu(source), writes = is_gpu(target);
        set_work(table, *row, work_of(record, handle(record["stream_id"]), writes && !reads ? target : source));
        if (source && target) amd::put_copy_ends(batch_, *row, reads, writes, reads && writes && source != target);
        set_count(table.bytes, *row, record["bytes"].integer());
    }

    void allocation(const JsonView& record) {
        std::string_view operation = operation_of(record);
        auto time = record["start_timestamp"].integer(), address = address_of(record["address"]);
        bool release = operation.ends_with("FREE"), known = release || operation.ends_with("ALLOCATE");
        if (!time || !address || !known)
            return batch_.lose_named(Loss::unread_table, "", "memory_allocation without address");
        auto bytes = record["allocation_size"].integer().value_or(0);
        allocations_.push_back({*time, release, *address, bytes, device(handle(record["agent_id"])), thread(record)});
    }

    void marker(const JsonView& record) {
        RangeTable& table = batch_.tables.range;
        auto row = span_row(table, record);
        if (!row) return;
        set_known(table.thread, *row, thread(record));
        auto message = messages_.find(record["correlation_id"]["internal"].integer().value_or(-1));
        bool told = message != messages_.end() && !message->second.empty();
        table.name.set(*row, batch_.intern(told ? message->second : operation_of(record)));
    }

    void call(std::string_view list, const JsonView& record) {
        ApiCallTable& table = batch_.tables.api_call;
        auto row = span_row(table, record);
        if (!row) return;
        table.process.set(*row, owner_);
        set_known(table.thread, *row, thread(record));
        const RecordKind* kind = kind_of(record);
        table.api.set(*row, batch_.intern(kind != nullptr ? kind->api : list.substr(0, list.find('_'))));
        std::string_view name = operation_of(record);
        set_text(batch_, table.name, *row, name);
        set_id(table.correlation, *row, record["correlation_id"]["internal"].integer());
        copy_calls_ += submission_of(name) == Submission::copy;
    }

    // The recorder writes one value for each instance of a hardware unit: they add up. Dispatches that were counted
    // without being traced are kernels too.
    void counters(const JsonView& record) {
        JsonView dispatch = record["dispatch_data"], about = dispatch["dispatch_info"];
        auto id = about["dispatch_id"].integer();
        if (id && !dispatches_.contains(*id)) kernel(dispatch, about, record["stream_id"]);
        auto found = id ? dispatches_.find(*id) : dispatches_.end();
        if (found == dispatches_.end()) return batch_.lose(Loss::missing_field, "counters without their kernel");
        std::vector<std::pair<StringId, double>> sums;
        record["records"].each([&](const JsonView& one) {
            auto counter = counters_.find(handle(one["counter_id"]).value_or(-1));
            auto value = one["value"].real();
            if (counter == counters_.end() || !value) {
                batch_.lose(Loss::missing_field, "counters without name or value");
                return true;
            }
            auto sum =
                std::find_if(sums.begin(), sums.end(), [&](const auto& each) { return each.first == counter->second; });
            if (sum == sums.end())
                sums.emplace_back(counter->second, *value);
            else
                sum->second += *value;
            return true;
        });
        auto start = dispatch["start_timestamp"].integer(), end = dispatch["end_timestamp"].integer();
        auto dur = start && end ? std::optional(span_between(*start, *end)) : std::nullopt;
        std::int64_t launch = amd::add_profiled_kernel(batch_, found->second, dur);
        for (auto [name, value] : sums) amd::add_counter(batch_, launch, name, kNoString, value);
    }

    element element_;
    JsonView process_;
    Batch& batch_;
    HostPlaces& places_;
    GpuNumbers& gpus_;
    MemoryLimit& limit_;
    std::size_t other_bytes_;
    bool full_ = false;
    std::string host_;
    StringId owner_ = kNoString;
    std::vector<RecordKind> kinds_;
    std::unordered_map<std::int64_t, std::string_view> messages_;  // of markers, by correlation
    std::unordered_map<std::int64_t, Agent> agents_;
    std::unordered_map<std::int64_t, Symbol> symbols_;
    std::unordered_map<std::int64_t, StringId> counters_;
    std::unordered_map<std::int64_t, Row> dispatches_;
    std::vector<amd::Allocation> allocations_;
    std::uint64_t copy_calls_ = 0, copies_ = 0;
};

}  // namespace
}  // namespace rocpd

int sniff_rocprof_json(std::string_view head) {
    std::size_t begin = head.find_first_not_of(" \t\r\n");
    bool object = begin != head.npos && head[begin] == '{';
    return object && head.find("\"rocprofiler-sdk-tool\"") != head.npos ? 90 : 0;
}

Status import_rocprof_json(Source& source, TraceBuilder& builder) {
    constexpr std::size_t kDepthOfRecords = 5;
    JsonDocument document;
    Result<simdjson::dom::element> root = document.read(source, kDepthOfRecords);
    if (!root.ok()) return root.error();
    Batch batch;
    MemoryLimit limit(source);
    HostPlaces places(batch);
    rocpd::GpuNumbers gpus;
    simdjson::dom::element tool;
    if ((*root)["rocprofiler-sdk-tool"].get(tool) != simdjson::SUCCESS)
        return Error{ExitCode::unreadable,
                     fmt::format("cannot read {}: no rocprofiler-sdk-tool in rocprofv3's JSON", source.name())};
    simdjson::dom::array processes;
    auto read = [&](const simdjson::dom::element& process) {
        return rocpd::JsonProcess(process, batch, places, gpus, limit, document.bytes()).read();
    };
    if (tool.get(processes) != simdjson::SUCCESS) {
        if (Status status = read(tool); !status) return status;
    } else {
        for (simdjson::dom::element process : processes)
            if (Status status = read(process); !status) return status;
    }
    if (!document.cut().empty()) batch.lose(Loss::truncated, document.cut());
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    builder.set_tool("rocprofv3");
    builder.append(std::move(batch));
    return {};
}

}  // namespace gpuprof::importers
