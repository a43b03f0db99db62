// Importer for the files of NCCL Inspector, NCCL's profiler plugin: JSON lines, each a completed collective, send or
// receive of one communicator with its number, size and duration. When it ran is known only from verbose files
// (NCCL_INSPECTOR_DUMP_VERBOSE=1). Before version 4.3 every line says which communicator it is of; since then a line with
// `dump_stats` says so for those that follow. The rank in the job is that in the largest communicator of the process.
// Format: nccl, plugins/profiler/inspector (ext-profiler/inspector before NCCL 2.29), README.md.
#include "io/importers/formats.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "core/base/json_error.h"
#include "io/importers/row_values.h"
#include "io/importers/source/lines.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/torch/values.h"

namespace gpuprof::inline importers {
namespace {

using torch::JsonView;

constexpr std::int64_t kMaxOperationTime_us = std::int64_t{1} << 51;

// The communicator and process of the lines that follow.
struct Context {
    StringId process = kNoString, communicator = kNoString, name = kNoString;
    std::optional<std::int64_t> rank, ranks;
};

class Reader {
public:
    Reader(Source& source, Batch& batch) : source_(source), batch_(batch), limit_(source) {}

    Status read() {
        Lines lines(source_);
        while (std::optional<std::string_view> line = lines.next()) {
            if (line->empty()) continue;
            simdjson::dom::element value;
            if (parse_text(parser_, *line, value) != simdjson::SUCCESS)
                batch_.lose(lines.ended() ? Loss::malformed_event : Loss::truncated,
                            fmt::format("{}:{}", source_.name(), lines.number()));
            else
                take(JsonView(value), lines.number());
            if (limit_.is_below(batch_)) return limit_.error();
        }
        if (!lines.status()) return lines.status();
        write_processes();
        return {};
    }

private:
    struct Process {
        StringId host = kNoString;
        std::optional<std::int64_t> pid, rank;
        std::int64_t ranks = 0;  // of its largest communicator
    };

    void take(const JsonView& line, std::uint64_t number) {
        if (line["header"].is_dictionary()) take_header(line);
        if (JsonView one = line["coll_perf"]; one.is_dictionary()) return write(one, "coll", number);
        if (JsonView one = line["p2p_perf"]; one.is_dictionary()) return write(one, "p2p", number);
        if (JsonView stats = line["dump_stats"]; stats.is_dictionary()) return take_losses(stats);
        batch_.lose(line["proxy_trace"].is_dictionary() ? Loss::unread_table : Loss::unknown_event,
                    line["proxy_trace"].is_dictionary() ? std::string("proxy_trace")
                                                        : fmt::format("{}:{}", source_.name(), number));
    }

    void take_header(const JsonView& line) {
        JsonView header = line["header"], about = line["metadata"];
        std::optional<std::int64_t> pid = about["pid"].integer();
        std::string_view host = about["hostname"].text(), name = header["comm_name"].text();
        context_ = {};
        context_.process = batch_.intern(pid ? fmt::format("{}:{}", host, *pid) : std::string(host));
        if (std::string_view id = header["id"].text(); !id.empty()) context_.communicator = batch_.intern(id);
        if (!name.empty() && name != "unknown") context_.name = batch_.intern(name);
        context_.rank = header["rank"].integer();
        context_.ranks = header["n_ranks"].integer();
        Process& process = processes_[context_.process];
        process.pid = pid;
        if (!host.empty()) process.host = batch_.intern(host);
        bool sound = context_.rank && context_.ranks && *context_.rank >= 0 && *context_.rank < *context_.ranks;
        if (!sound || *context_.ranks < process.ranks) return;
        // Two communicators of this size with different ranks: which one is the job is unknown.
        bool clash = *context_.ranks == process.ranks && process.rank != context_.rank;
        process.ranks = *context_.ranks;
        process.rank = clash ? std::nullopt : context_.rank;
    }

    // `kind` begins the names of the fields: coll_sn, p2p_sn.
    void write(const JsonView& one, std::string_view kind, std::uint64_t number) {
        auto field = [&](std::string_view name) { return one[fmt::format("{}_{}", kind, name)]; };
        std::string_view name = one[kind].text();
        if (name.empty() || context_.process == kNoString)
            return batch_.lose(Loss::missing_field, fmt::format("{}:{}", source_.name(), number));
        CollectiveTable& table = batch_.tables.collective;
        Row row = table.add();
        table.process.set(row, context_.process);
        table.name.set(row, batch_.intern(name));
        set_known(table.communicator, row, context_.communicator);
        set_known(table.group_description, row, context_.name);
        set_known(table.group_size, row, context_.ranks);
        set_known(table.seq, row, field("sn").integer());
        set_count(table.bytes, row, field("msg_size_bytes").integer());
        put_us(table.exec_time, row, field("exec_time_us"));
        put_text(table.timing_source, row, field("timing_source").text());
        put_text(table.algorithm, row, field("algo").text());
        put_text(table.protocol, row, field("proto").text());
        if (auto peer = field("peer").integer()) put_ends(row, name, *peer);
        put_times(row, one["event_trace_ts"], kind);
    }

    // Numbers in the communicator.
    void put_ends(Row row, std::string_view name, std::int64_t peer) {
        std::optional<std::int64_t> own = context_.rank;
        if (peer < 0 || peer > INT32_MAX || !own || *own < 0 || *own > INT32_MAX) return;
        bool sends = name == "Send";
        auto from = static_cast<std::int32_t>(sends ? *own : peer), to = static_cast<std::int32_t>(sends ? peer : *own);
        batch_.tables.collective.src_rank.set(row, from);
        batch_.tables.collective.dst_rank.set(row, to);
    }

    // From the first channel's start to the last one's end.
    void put_times(Row row, const JsonView& trace, std::string_view kind) {
        CollectiveTable& table = batch_.tables.collective;
        put_us(table.created_time, row, trace[fmt::format("{}_start_ts", kind)]);
        std::optional<std::int64_t> first, last;
        trace["kernel_events"].each([&](const JsonView& channel) {
            std::optional<std::int64_t> begin = channel["kernel_start_ts"].integer(),
                                        end = channel["kernel_stop_ts"].integer();
            if (begin && *begin > 0) first = std::min(first.value_or(*begin), *begin);
            if (end && *end > 0) last = std::max(last.value_or(*end), *end);
            return true;
        });
        if (first && *first < kMaxOperationTime_us) table.started_time.set(row, *first * 1000);
        if (last && *last < kMaxOperationTime_us) table.ended_time.set(row, *last * 1000);
    }

    void put_text(Column<StringId>& column, Row row, std::string_view text) {
        if (!text.empty() && text != "unknown") column.set(row, batch_.intern(text));
    }
    // Times and durations.
    void put_us(Column<std::int64_t>& column, Row row, const JsonView& value) {
        std::optional<std::int64_t> us = value.integer();
        if (us && *us >= 0 && *us < kMaxOperationTime_us) column.set(row, *us * 1000);
    }

    void take_losses(const JsonView& stats) {
        for (std::string_view key : {"coll_dropped_since_last_dump", "p2p_dropped_since_last_dump"})
            if (auto lost = stats[key].integer(); lost && *lost > 0)
                batch_.lose(Loss::recorder_loss, fmt::format("{}: {}", source_.name(), key),
                            static_cast<std::uint64_t>(*lost));
    }

    void write_processes() {
        ProcessTable& table = batch_.tables.process;
        for (const auto& [key, process] : processes_) {
            Row row = table.add();
            table.key.set(row, key);
            set_known(table.pid, row, process.pid);
            set_known(table.host, row, process.host);
            if (!process.rank) continue;
            table.rank.set(row, *process.rank);
            table.world_size.set(row, process.ranks);
        }
    }

    Source& source_;
    Batch& batch_;
    MemoryLimit limit_;
    simdjson::dom::parser parser_;
    Context context_;
    std::map<StringId, Process> processes_;  // by key
};

}  // namespace

int sniff_nccl_inspector(std::string_view head) {
    if (!head.starts_with('{')) return 0;
    auto has = [head](std::string_view part) { return head.find(part) != head.npos; };
    if (has("\"inspector_output_format_version\"")) return 95;
    return has("\"coll_sn\"") && has("\"header\"") ? 90 : 0;
}

Status import_nccl_inspector(Source& source, TraceBuilder& builder) {
    Batch batch;
    Reader reader(source, batch);
    if (Status read = reader.read(); !read) return read;
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    builder.set_tool("NCCL Inspector");
    builder.append(std::move(batch));
    return {};
}

}  // namespace gpuprof::importers
