// Importer for dumps of PyTorch's flight recorder: the last collectives that one rank called, and how far each has come.
// PyTorch writes them when a collective times out (TORCH_NCCL_DUMP_ON_TIMEOUT), as a pickle of plain values in
// `nccl_trace_rank_N`; its function `_dump_nccl_trace_json` gives the same as JSON. Rank N is only in the name.
// Formats: torch/flight_dump.h.
#include "io/importers/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/schema/meta_keys.h"
#include "io/importers/row_values.h"
#include "io/importers/source/json_document.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/source/pickle.h"
#include "io/importers/source/read_all.h"
#include "io/importers/torch/flight_dump.h"

namespace gpuprof::inline importers {
namespace {

constexpr std::size_t kMaxDumpBytes = std::size_t{4} << 30;
constexpr std::size_t kDeepest = 3;  // of JSON: a truncated document keeps whole entries

// 12 of "nccl_trace_rank_12" and of "nccl_trace_rank_12.json".
std::optional<std::int64_t> rank_in_file_name(std::string_view path) {
    std::string_view name = path.substr(path.find_last_of('/') + 1);
    constexpr std::string_view kRank = "_rank_";
    std::size_t at = name.rfind(kRank);
    if (at == name.npos) return std::nullopt;
    name.remove_prefix(at + kRank.size());
    std::int32_t rank = 0;
    auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
    bool ends = end == name.data() + name.size() || *end == '.';
    return error == std::errc{} && rank >= 0 && ends ? std::optional<std::int64_t>(rank) : std::nullopt;
}

// Its key does not name the file: keys are shown and shared.
StringId process_of(const Source& source, Batch& batch) {
    std::optional<std::int64_t> rank = rank_in_file_name(source.name());
    return batch.intern(rank ? fmt::format("rank {}", *rank) : "process");
}

Status put(const torch::FlightDump& dump, StringId process, Source& source, std::string_view cut, Batch batch,
           TraceBuilder& builder) {
    if (!dump.known)
        return Error{ExitCode::unreadable,
                     fmt::format("cannot read {}: {}", source.name(),
                                 cut.empty() ? "not a flight recorder dump: it has no entries" : cut)};
    ProcessTable& table = batch.tables.process;
    Row row = table.add();
    table.key.set(row, process);
    set_known(table.rank, row, rank_in_file_name(source.name()));
    if (dump.world_size > 0) table.world_size.set(row, dump.world_size);
    if (dump.lost > 0)
        batch.lose(Loss::recorder_loss, fmt::format("{}: earlier collectives left its buffer", source.name()),
                   dump.lost);
    if (!cut.empty()) batch.lose(Loss::truncated, cut);
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    builder.set_tool(meta_key::kFlightRecorderTool);
    if (!dump.version.empty()) builder.set_meta("flight_recorder_version", dump.version);
    if (!dump.library.empty()) builder.set_meta("nccl_version", dump.library);
    builder.append(std::move(batch));
    return {};
}

Status import_pickle(Source& source, TraceBuilder& builder) {
    Result<std::string> bytes = read_all(source, kMaxDumpBytes);
    if (!bytes.ok()) return bytes.error();
    MemoryLimit limit(source);
    Result<Pickle> pickle = Pickle::read(*bytes, limit.bytes() - std::min<std::uint64_t>(limit.bytes(), bytes->size()));
    if (!pickle.ok() && pickle.error().code == ExitCode::internal) return limit.error();
    if (!pickle.ok())
        return Error{ExitCode::unreadable, fmt::format("cannot read {}: {}", source.name(), pickle.error().message)};
    Batch batch;
    StringId process = process_of(source, batch);
    torch::FlightDump dump =
        torch::read_flight_dump(*pickle, process, batch, {limit, bytes->size() + pickle->bytes(), bytes->size()});
    if (dump.over_limit) return limit.error();
    return put(dump, process, source, pickle->cut(), std::move(batch), builder);
}

Status import_json(Source& source, TraceBuilder& builder) {
    JsonDocument document;
    Result<simdjson::dom::element> root = document.read(source, kDeepest);
    if (!root.ok()) return root.error();
    Batch batch;
    MemoryLimit limit(source);
    StringId process = process_of(source, batch);
    torch::FlightDump dump =
        torch::read_flight_dump(*root, process, batch, {limit, document.bytes(), document.bytes()});
    if (dump.over_limit) return limit.error();
    return put(dump, process, source, document.cut(), std::move(batch), builder);
}

}  // namespace

int sniff_flight_recorder(std::string_view head) {
    std::size_t begin = head.find_first_not_of(" \t\r\n");
    if (begin == head.npos) return 0;
    auto has = [head](std::string_view part) { return head.find(part) != head.npos; };
    bool json = head[begin] == '{', pickle = head[0] == '\x80' || head.starts_with("(d") || head.starts_with("}q");
    if (!json && !pickle) return 0;
    bool entries = has("profiling_name") && (has("collective_seq_id") || has("seq_id"));
    if (entries) return 95;
    return has("pg_config") && has("version") ? 85 : 0;
}

Status import_flight_recorder(Source& source, TraceBuilder& builder) {
    std::string_view head = source.head();
    std::size_t begin = head.find_first_not_of(" \t\r\n");
    bool json = begin != head.npos && head[begin] == '{';
    return json ? import_json(source, builder) : import_pickle(source, builder);
}

}  // namespace gpuprof::importers
