// Importer for CSV output of `nsys stats`: the reports cuda_gpu_trace (device activity) and cuda_api_trace (calls), one
// after the other in any order, mixed with messages of nsys. Columns are found by their name without the unit, which is
// in brackets: "Start (ns)", "Start(nsec)", "Bytes (MB)". Other reports are counted but not read.
// Format: https://docs.nvidia.com/nsight-systems/UserGuide, "CUDA GPU Trace", "CUDA API Trace".
#include "io/importers/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "core/base/text/ascii.h"
#include "core/base/text/csv.h"
#include "io/importers/nsys_stats/columns.h"
#include "io/importers/row_values.h"
#include "io/importers/source/lines.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/spool/cupti_names.h"

namespace gpuprof::inline importers {
namespace {

using nsys_stats::Columns;
using nsys_stats::Report;

// "[CUDA memcpy Host-to-Device]", in older versions "[CUDA memcpy HtoD]".
std::string_view copy_kind(std::string_view name) {
    struct Word {
        std::string_view written, kind;
    };
    constexpr Word kWords[] = {
        {"HtoD", "HtoD"},         {"DtoH", "DtoH"},           {"DtoD", "DtoD"},           {"HtoH", "HtoH"},
        {"PtoP", "PtoP"},         {"Host-to-Device", "HtoD"}, {"Device-to-Host", "DtoH"}, {"Device-to-Device", "DtoD"},
        {"Host-to-Host", "HtoH"}, {"Peer-to-Peer", "PtoP"}};
    for (const Word& word : kWords)
        if (name.find(word.written) != name.npos) return word.kind;
    return {};
}

class StatsReading {
public:
    explicit StatsReading(Batch& batch) : batch_(batch) {}

    // Takes any record of the output.
    void take(const std::vector<std::string>& fields, std::uint64_t line) {
        if (Report report = Columns::report_of(fields); report != Report::none) {
            report_ = report;
            columns_.take(fields);
            any_ = any_ || report == Report::gpu_trace || report == Report::api_trace;
            if (report == Report::other) batch_.lose(Loss::unread_table, "another report of nsys stats");
            return;
        }
        if (fields.size() == 1) report_ = Report::none;  // an empty line or a message of nsys ends a report
        if (report_ == Report::none || report_ == Report::other) return;
        if (fields.size() == columns_.size() && (report_ == Report::gpu_trace ? work(fields) : call(fields))) return;
        batch_.lose(Loss::malformed_event, fmt::format("line {}", line));
    }
    bool any_table() const { return any_; }

    // Device work has no process here, and each process numbers its calls from 1: with several processes, a number does
    // not identify the call that submitted the work.
    void finish() {
        if (processes_.size() < 2) return;
        auto forget = [&](auto& table) {
            table.correlation = {};
            table.correlation.pad(table.rows);
        };
        Tables& tables = batch_.tables;
        batch_.lose(Loss::duplicate_correlation, "ids of several processes",
                    tables.kernel.rows + tables.memcpy.rows + tables.memset.rows);
        forget(tables.kernel);
        forget(tables.memcpy);
        forget(tables.memset);
    }

private:
    using Fields = std::vector<std::string>;

    std::optional<std::int32_t> narrow(const Fields& fields, std::string_view column) const {
        auto value = columns_.integer(fields, column);
        bool fits = value && *value >= 0 && *value <= std::numeric_limits<std::int32_t>::max();
        return fits ? std::optional(static_cast<std::int32_t>(*value)) : std::nullopt;
    }

    // False if the row has no usable times.
    bool work(const Fields& fields) {
        Tables& tables = batch_.tables;
        std::string_view name = columns_.text(fields, "Name");
        if (narrow(fields, "GrdX")) return kernel(fields, name);
        bool fills = name.find("memset") != name.npos || name.find("Memset") != name.npos;
        if (!fills) return copy(fields, name);
        auto row = device_row(tables.memset, fields);
        if (!row) return false;
        set_known(tables.memset.bytes, *row, columns_.bytes(fields, "Bytes"));
        set_memory(tables.memset.kind, *row, columns_.text(fields, "SrcMemKd"));
        return true;
    }

    bool kernel(const Fields& fields, std::string_view name) {
        KernelTable& table = batch_.tables.kernel;
        auto row = device_row(table, fields);
        if (!row) return false;
        table.name.set(*row, batch_.intern(name));
        const std::pair<std::string_view, Column<std::int32_t>*> shape[] = {
            {"GrdX", &table.grid_x},  {"GrdY", &table.grid_y},  {"GrdZ", &table.grid_z},      {"BlkX", &table.block_x},
            {"BlkY", &table.block_y}, {"BlkZ", &table.block_z}, {"Reg/Trd", &table.registers}};
        for (auto [column, to] : shape)
            if (auto value = narrow(fields, column)) to->set(*row, *value);
        auto fixed = columns_.bytes(fields, "StcSMem"), dynamic = columns_.bytes(fields, "DymSMem");
        if (fixed && dynamic) table.shared_bytes.set(*row, *fixed + *dynamic);
        return true;
    }

    bool copy(const Fields& fields, std::string_view name) {
        MemcpyTable& table = batch_.tables.memcpy;
        if (name.find("memcpy") == name.npos) return false;
        auto row = device_row(table, fields);
        if (!row) return false;
        set_text(batch_, table.kind, *row, copy_kind(name));
        set_known(table.bytes, *row, columns_.bytes(fields, "Bytes"));
        bool migrates = name.find("Unified") != name.npos;  // managed memory, wherever it was
        set_memory(table.src, *row, migrates ? "managed" : columns_.text(fields, "SrcMemKd"));
        set_memory(table.dst, *row, migrates ? "managed" : columns_.text(fields, "DstMemKd"));
        return true;
    }

    bool call(const Fields& fields) {
        ApiCallTable& table = batch_.tables.api_call;
        auto row = span_row(table, fields);
        if (!row) return false;
        std::string_view name = cuda::without_version(columns_.text(fields, "Name"));
        table.name.set(*row, batch_.intern(name));
        table.api.set(*row, batch_.intern(name.starts_with("cuda") ? "runtime" : "driver"));
        set_id(table.correlation, *row, columns_.integer(fields, "CorrID"));
        if (auto error = narrow(fields, "Result"); error && *error > 0) table.error.set(*row, *error);
        auto pid = columns_.integer(fields, "Pid"), tid = columns_.integer(fields, "Tid");
        if (!pid || !tid) return true;
        StringId process = batch_.intern(fmt::format("{}", *pid)),
                 thread = batch_.intern(fmt::format("{}/{}", *pid, *tid));
        if (processes_.insert(process).second) {
            Row made = batch_.tables.process.add();
            batch_.tables.process.key.set(made, process);
            batch_.tables.process.pid.set(made, *pid);
        }
        if (threads_.insert(thread).second) {
            ThreadTable& threads = batch_.tables.thread;
            Row made = threads.add();
            threads.key.set(made, thread);
            threads.process.set(made, process);
            threads.tid.set(made, *tid);
            set_text(batch_, threads.name, made, columns_.text(fields, "Thread Name"));
        }
        table.process.set(*row, process);
        table.thread.set(*row, thread);
        return true;
    }

    template <class Table>
    std::optional<Row> span_row(Table& table, const Fields& fields) {
        auto start = columns_.time(fields, "Start"), dur = columns_.time(fields, "Duration");
        if (!start || !dur || *dur < 0) return std::nullopt;
        return add_span(table, *start, *dur);
    }

    template <class Table>
    std::optional<Row> device_row(Table& table, const Fields& fields) {
        auto row = span_row(table, fields);
        if (!row) return std::nullopt;
        set_known(table.device, *row, device(columns_.text(fields, "Device")));
        set_known(table.context, *row, narrow(fields, "Ctx"));
        set_known(table.stream, *row, columns_.integer(fields, "Strm"));
        set_id(table.correlation, *row, columns_.integer(fields, "CorrId"));
        return row;
    }

    // "NVIDIA H100 80GB HBM3 (0)".
    std::optional<std::int32_t> device(std::string_view text) {
        std::size_t open = text.rfind('(');
        std::int32_t ordinal = 0;
        if (open == text.npos || !text.ends_with(')')) return std::nullopt;
        auto [end, error] = std::from_chars(text.data() + open + 1, text.data() + text.size() - 1, ordinal);
        if (error != std::errc{} || end != text.data() + text.size() - 1 || ordinal < 0) return std::nullopt;
        if (!devices_.insert(ordinal).second) return ordinal;
        DeviceTable& table = batch_.tables.device;
        Row row = table.add();
        table.device.set(row, ordinal);
        table.vendor.set(row, batch_.intern("nvidia"));
        while (open > 0 && text[open - 1] == ' ') --open;
        if (open > 0) table.name.set(row, batch_.intern(text.substr(0, open)));
        return ordinal;
    }

    void set_memory(gpuprof::Column<StringId>& column, Row row, std::string_view kind) {
        std::string word(kind);
        for (char& c : word) c = to_lower(c);
        set_text(batch_, column, row, word);
    }

    Batch& batch_;
    Report report_ = Report::none;
    Columns columns_;
    bool any_ = false;
    std::set<StringId> processes_, threads_;
    std::set<std::int32_t> devices_;
};

}  // namespace

int sniff_nsys_stats(std::string_view head) {
    std::vector<std::string> fields;
    while (!head.empty()) {
        std::size_t end = std::min(head.find('\n'), head.size());
        std::string_view line = head.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        // A header starts with its first column; splitting each line of any file would be slow.
        bool begins = line.starts_with("Start") || line.starts_with("\"Start");
        if (begins && split_csv(line, fields))
            if (Report report = Columns::report_of(fields); report == Report::gpu_trace || report == Report::api_trace)
                return 95;
        head.remove_prefix(std::min(end + 1, head.size()));
    }
    return 0;
}

Status import_nsys_stats(Source& source, TraceBuilder& builder) {
    Batch batch;
    StatsReading reading(batch);
    Lines lines(source);
    std::vector<std::string> fields;
    MemoryLimit limit(source);
    bool cut_off = false;
    while (auto line = lines.next()) {
        // nsys ends each line: a line without an end is truncated, and its last field may be too.
        cut_off = !lines.ended();
        if (cut_off) break;
        if (!split_csv(*line, fields)) fields.assign(2, {});  // not a row: a quote is open
        reading.take(fields, lines.number());
        if (limit.is_below(batch)) return limit.error();
    }
    if (!lines.status().ok()) return lines.status();
    if (cut_off) batch.lose(Loss::truncated, fmt::format("line {}", lines.number()));
    if (lines.cut() > 0) batch.lose(Loss::malformed_event, "lines over 16 MiB", lines.cut());
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    if (!reading.any_table())
        return Error{ExitCode::unreadable,
                     fmt::format("cannot read {}: nsys stats output without a trace; run nsys stats --report "
                                 "cuda_gpu_trace,cuda_api_trace --format csv",
                                 source.name())};
    reading.finish();
    builder.set_tool("NVIDIA Nsight Systems");
    builder.append(std::move(batch));
    return {};
}

}  // namespace gpuprof::importers
