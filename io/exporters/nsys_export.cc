// The nsys exporter: writes the SQLite database that `nsys export --type sqlite` would write for a trace, schema 3.25,
// for scripts and programs that read those. Operators become NVTX ranges in a separate domain. Times count from the
// start of the window.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/base/text/function_name.h"
#include "io/exporters/exporter.h"
#include "io/exporters/nsys/nsys_database.h"

namespace gpuprof::inline exporters {
namespace {

using nsys::global_id;
using nsys::Table;

constexpr const char* kOperators = "framework operators";

class NsysExport {
public:
    NsysExport(const Trace& trace, nsys::Writer& out)
        : trace_(trace),
          tables_(trace.tables()),
          out_(out),
          zero_(std::max<TimeNs>(0, trace.full_window().start)),
          numbers_(trace.strings().size(), -1) {}

    void write() {
        number_hosts();
        write_about();
        write_device_work();
        write_host_work();
        write_annotations();
        write_samples();
        write_strings();
        write_indexes();
    }

private:
    std::int64_t since(TimeNs time) const { return time - zero_; }
    // Names are written after everything that refers to them.
    std::int64_t name(const Column<StringId>& column, Row row) {
        if (!column.has(row)) return named("[unknown]");
        std::int64_t& id = numbers_[index_of(column[row])];
        return id >= 0 ? id : id = named(trace_.text(column[row]));
    }
    std::int64_t short_name_of(const Column<StringId>& column, Row row) {
        if (!column.has(row)) return named("[unknown]");
        auto [known, added] = short_names_.try_emplace(column[row], 0);
        if (added) known->second = named(short_name(trace_.text(column[row])));
        return known->second;
    }
    std::int64_t named(std::string_view text) {
        return strings_.try_emplace(std::string(text), std::ssize(strings_)).first->second;
    }
    std::optional<std::int64_t> process(const Column<StringId>& column, Row row) const {
        auto known = column.has(row) ? pids_.find(column[row]) : pids_.end();
        return known == pids_.end() ? std::nullopt : std::optional(global_id(known->second, 0));
    }
    std::optional<std::int64_t> thread(const Column<StringId>& column, Row row) const {
        auto known = column.has(row) ? tids_.find(column[row]) : tids_.end();
        return known == tids_.end() ? std::nullopt : std::optional(known->second);
    }

    // Ids have 24 bits. Ids that need more, or that two threads share, get numbers from the top of the range.
    void number_hosts() {
        constexpr std::int64_t kTop = 0xFFFFFF;
        std::set<std::int64_t> taken;
        auto number = [&](std::optional<std::int64_t> id, std::int64_t process) {
            std::int64_t mine = id && *id >= 0 && *id <= kTop ? *id : kTop;
            while (!taken.insert(process << 24 | mine).second) --mine;
            return mine;
        };
        for (Row row = 0; row < tables_.process.rows; ++row)
            if (tables_.process.key.has(row))
                pids_[tables_.process.key[row]] = number(tables_.process.pid.get(row), kTop + 1);
        for (Row row = 0; row < tables_.thread.rows; ++row) {
            if (!tables_.thread.key.has(row)) continue;
            auto owner = pids_.find(tables_.thread.process.value_or(row, kNoString));
            std::int64_t pid = owner == pids_.end() ? 0 : owner->second;
            tids_[tables_.thread.key[row]] = global_id(pid, number(tables_.thread.tid.get(row), pid));
        }
    }

    void write_about() {
        out_.insert<Table::META_DATA_EXPORT>("EXPORT_PRODUCT_NAME", "gpu-profile");
        out_.insert<Table::META_DATA_EXPORT>("EXPORT_PRODUCT_VERSION", GPUPROF_VERSION);
        constexpr std::pair<const char*, const char*> kSchema[] = {
            {"", "3.25.0"}, {"_MAJOR", "3"}, {"_MINOR", "25"}, {"_MICRO", "0"}};
        for (auto [part, value] : kSchema)
            out_.insert<Table::META_DATA_EXPORT>(fmt::format("EXPORT_SCHEMA_VERSION{}", part), value);
        for (Row row = 0; row < tables_.meta.rows; ++row)
            if (tables_.meta.key.has(row) && tables_.meta.value.has(row))
                out_.insert<Table::META_DATA_CAPTURE>(trace_.text(tables_.meta.key[row]),
                                                      trace_.text(tables_.meta.value[row]));
        out_.insert<Table::TARGET_INFO_SESSION_START_TIME>(zero_);
        out_.insert<Table::ANALYSIS_DETAILS>(global_id(0, 0), trace_.full_window().length(),
                                             since(trace_.full_window().start), since(trace_.full_window().end));
        for (Row row = 0; row < tables_.process.rows; ++row)
            if (auto known = pids_.find(tables_.process.key.value_or(row, kNoString)); known != pids_.end())
                out_.insert<Table::PROCESSES>(global_id(known->second, 0), known->second,
                                              text(tables_.process.name, row));
        for (Row row = 0; row < tables_.thread.rows; ++row)
            if (tables_.thread.name.has(row))
                out_.insert<Table::ThreadNames>(name(tables_.thread.name, row), 0, thread(tables_.thread.key, row));
        write_devices();
        for (Row row = 0; row < tables_.loss.rows; ++row)
            out_.insert<Table::DIAGNOSTIC_EVENT>(
                0, 1, 3, 2,
                fmt::format("{} x {}: {}", tables_.loss.count.value_or(row, 0),
                            text(tables_.loss.kind, row).value_or(""), text(tables_.loss.place, row).value_or("")),
                std::nullopt);
    }

    void write_devices() {
        const DeviceTable& d = tables_.device;
        for (Row row = 0; row < d.rows; ++row) {
            auto warp = d.warp_size.get(row), threads = d.max_threads_per_sm.get(row);
            decltype(threads) warps;
            if (warp && threads && *warp > 0) warps = *threads / *warp;
            out_.insert<Table::TARGET_INFO_GPU>(
                global_id(0, 0), d.device.get(row), text(d.name, row), d.memory_bytes.get(row), d.sms.get(row),
                text(d.uuid, row), d.registers_per_block.get(row), d.shared_bytes_per_block.get(row),
                d.shared_bytes_per_block_optin.get(row), d.shared_bytes_per_sm.get(row), d.registers_per_sm.get(row),
                warp, warps, d.max_threads_per_block.get(row), d.cc_major.get(row), d.cc_minor.get(row));
            for (const auto& [key, pid] : pids_)
                out_.insert<Table::TARGET_INFO_CUDA_DEVICE>(d.device.get(row), d.device.value_or(row, 0), pid,
                                                            text(d.uuid, row), d.sms.get(row));
        }
    }

    std::optional<std::string_view> text(const Column<StringId>& column, Row row) const {
        return column.has(row) ? std::optional(trace_.text(column[row])) : std::nullopt;
    }

    void write_device_work() {
        const KernelTable& k = tables_.kernel;
        for (Row row = 0; row < k.rows; ++row)
            out_.insert<Table::CUPTI_ACTIVITY_KIND_KERNEL>(
                since(k.start[row]), since(k.start[row] + k.dur[row]), k.device.value_or(row, 0),
                k.context.value_or(row, 0), std::nullopt, k.stream.value_or(row, 0), k.correlation.get(row),
                process(k.process, row), name(k.name, row), short_name_of(k.name, row), std::nullopt, 1,
                k.registers.get(row), k.grid_x.get(row), k.grid_y.get(row), k.grid_z.get(row), k.block_x.get(row),
                k.block_y.get(row), k.block_z.get(row), k.shared_bytes.has(row) ? std::optional(0) : std::nullopt,
                k.shared_bytes.get(row), k.local_bytes.get(row), row + 1, k.graph_node_id.get(row), k.graph_id.get(row),
                k.cluster_x.get(row), k.cluster_y.get(row), k.cluster_z.get(row));
        const MemcpyTable& c = tables_.memcpy;
        for (Row row = 0; row < c.rows; ++row)
            out_.insert<Table::CUPTI_ACTIVITY_KIND_MEMCPY>(
                since(c.start[row]), since(c.start[row] + c.dur[row]), c.device.value_or(row, 0),
                c.context.value_or(row, 0), std::nullopt, c.stream.value_or(row, 0), c.correlation.get(row),
                process(c.process, row), c.bytes.get(row), nsys::copy_kind(text(c.kind, row).value_or("")),
                memory_of(c.src, row), memory_of(c.dst, row), c.graph_node_id.get(row));
        const MemsetTable& s = tables_.memset;
        for (Row row = 0; row < s.rows; ++row)
            out_.insert<Table::CUPTI_ACTIVITY_KIND_MEMSET>(
                since(s.start[row]), since(s.start[row] + s.dur[row]), s.device.value_or(row, 0),
                s.context.value_or(row, 0), std::nullopt, s.stream.value_or(row, 0), s.correlation.get(row),
                process(s.process, row), std::nullopt, s.bytes.get(row), s.graph_node_id.get(row),
                memory_of(s.kind, row));
        const SyncTable& y = tables_.sync;
        for (Row row = 0; row < y.rows; ++row)
            out_.insert<Table::CUPTI_ACTIVITY_KIND_SYNCHRONIZATION>(
                since(y.start[row]), since(y.start[row] + y.dur[row]), y.device.value_or(row, 0),
                y.context.value_or(row, 0), std::nullopt, y.stream.value_or(row, 0xFFFFFFFF), y.correlation.get(row),
                process(y.process, row), nsys::sync_type(text(y.kind, row).value_or("")), std::nullopt, std::nullopt);
    }

    std::optional<std::int64_t> memory_of(const Column<StringId>& column, Row row) const {
        return column.has(row) ? std::optional(nsys::memory_kind(trace_.text(column[row]))) : std::nullopt;
    }

    void write_host_work() {
        constexpr int kRuntime = 0, kDriver = 1, kSystem = 27, kUnknownOverhead = 1;
        const ApiCallTable& a = tables_.api_call;
        for (Row row = 0; row < a.rows; ++row)
            out_.insert<Table::CUPTI_ACTIVITY_KIND_RUNTIME>(since(a.start[row]), since(a.start[row] + a.dur[row]),
                                                            text(a.api, row) == "driver" ? kDriver : kRuntime,
                                                            thread(a.thread, row), a.correlation.get(row),
                                                            name(a.name, row), std::nullopt, std::nullopt);
        const OsCallTable& o = tables_.os_call;
        for (Row row = 0; row < o.rows; ++row)
            out_.insert<Table::OSRT_API>(since(o.start[row]), since(o.start[row] + o.dur[row]), kSystem,
                                         thread(o.thread, row), std::nullopt, name(o.name, row), std::nullopt,
                                         std::nullopt, std::nullopt);
        const OverheadTable& v = tables_.overhead;
        for (Row row = 0; row < v.rows; ++row)
            out_.insert<Table::CUPTI_ACTIVITY_KIND_OVERHEAD>(since(v.start[row]), since(v.start[row] + v.dur[row]), 0,
                                                             thread(v.thread, row), std::nullopt, name(v.name, row),
                                                             kUnknownOverhead);
        // Device memory from the driver only; events of a framework's own allocator carry its totals.
        const MemoryEventTable& m = tables_.memory_event;
        constexpr std::int32_t kCuda = 1;
        constexpr int kDevice = 2;
        for (Row row = 0; row < m.rows; ++row)
            if (m.device_type.value_or(row, kCuda) == kCuda && !m.total_allocated.has(row) && m.bytes.has(row))
                out_.insert<Table::CUDA_GPU_MEMORY_USAGE_EVENTS>(
                    since(m.time[row]), std::nullopt, m.device.value_or(row, 0), std::nullopt, m.address.get(row),
                    std::abs(m.bytes[row]), kDevice, m.bytes[row] < 0 ? 1 : 0, m.stream.get(row));
    }

    // As autograd writes it: the name, then the facts of the call.
    std::string range_text(Row row) const {
        const RangeTable& r = tables_.range;
        std::string said(text(r.name, row).value_or(""));
        if (r.sequence.has(row)) said += fmt::format(", seq = {}", r.sequence[row]);
        if (r.op_id.has(row)) said += fmt::format(", op_id = {}", r.op_id[row]);
        if (r.input_dims.has(row)) said += fmt::format(", sizes = {}", trace_.text(r.input_dims[row]));
        if (r.input_ops.has(row)) said += fmt::format(", input_op_ids = {}", trace_.text(r.input_ops[row]));
        return said;
    }

    // Ranges and operators. Each process announces its domains and categories with an event.
    void write_annotations() {
        constexpr int kPushPop = 59, kDomain = 75, kCategory = 33;
        std::map<std::string_view, std::int64_t> domains, categories;
        std::set<std::pair<std::int64_t, std::int64_t>> known;
        auto event = [&](TimeNs start, DurNs dur, std::string_view what, std::optional<std::int64_t> where,
                         std::string_view domain, std::optional<std::string_view> category,
                         std::optional<double> payload) {
            std::int64_t in = domain.empty() ? 0 : domains.try_emplace(domain, std::ssize(domains) + 1).first->second;
            std::int64_t pid = where.value_or(0) >> 24;
            if (in != 0 && known.insert({pid, in}).second)
                out_.insert<Table::NVTX_EVENTS>(since(trace_.full_window().start), std::nullopt, kDomain, std::nullopt,
                                                std::nullopt, std::nullopt, domain, where, std::nullopt, std::nullopt,
                                                in, std::nullopt, std::nullopt, std::nullopt);
            std::optional<std::int64_t> group;
            if (category) {
                group = categories.try_emplace(*category, std::ssize(categories) + 1).first->second;
                if (known.insert({pid, -(in << 32 | *group)}).second)
                    out_.insert<Table::NVTX_EVENTS>(since(trace_.full_window().start), std::nullopt, kCategory,
                                                    std::nullopt, group, std::nullopt, *category, where, std::nullopt,
                                                    std::nullopt, in, std::nullopt, std::nullopt, std::nullopt);
            }
            out_.insert<Table::NVTX_EVENTS>(since(start), since(start + dur), kPushPop, std::nullopt, group,
                                            std::nullopt, what, where, std::nullopt, std::nullopt, in, std::nullopt,
                                            std::nullopt, payload);
        };
        const RangeTable& r = tables_.range;
        for (Row row = 0; row < r.rows; ++row)
            event(r.start[row], r.dur[row], range_text(row), thread(r.thread, row), text(r.domain, row).value_or(""),
                  text(r.category, row), r.payload.get(row));
        const OpTable& o = tables_.op;
        for (Row row = 0; row < o.rows; ++row)
            event(o.start[row], o.dur[row], text(o.name, row).value_or(""), thread(o.thread, row), kOperators,
                  std::nullopt, std::nullopt);
    }

    void write_samples() {
        std::map<std::pair<StringId, std::int32_t>, std::int64_t> metrics;
        const SampleTable& s = tables_.sample;
        for (Row row = 0; row < s.rows; ++row) {
            if (!s.metric.has(row) || !s.device.has(row) || !s.value.has(row) || s.pid.has(row)) continue;
            std::int32_t device = s.device[row];
            auto [metric, added] = metrics.try_emplace({s.metric[row], device}, std::ssize(metrics) + 1);
            if (added) {
                std::string shown(trace_.text(s.metric[row]));
                if (s.unit.has(row)) shown += fmt::format(" [{}]", trace_.text(s.unit[row]));
                out_.insert<Table::TARGET_INFO_GPU_METRICS>(device, device, "gpu-profile", metric->second, shown);
            }
            out_.insert<Table::GPU_METRICS>(since(s.time[row]), since(s.time[row]), device, metric->second,
                                            s.value[row]);
        }
    }

    void write_strings() {
        for (const auto& [text, id] : strings_) out_.insert<Table::StringIds>(id, text);
        constexpr std::pair<const char*, const char*> kEnums[] = {
#define GPUPROF_NSYS_ENUM(name, rows) {#name, rows},
            GPUPROF_NSYS_ENUMS(GPUPROF_NSYS_ENUM)
#undef GPUPROF_NSYS_ENUM
        };
        for (auto [name, rows] : kEnums)
            out_.run(fmt::format(
                "CREATE TABLE {0} (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT); INSERT INTO {0} VALUES {1}",
                name, rows));
    }

    void write_indexes() {
        auto add_index = [&](Table table, const char* suffix, const char* columns) {
            const char* name = nsys::text_of(table).name;
            if (out_.wrote(table)) out_.run(fmt::format("CREATE INDEX {0}_{1} ON {0} ({2})", name, suffix, columns));
        };
        for (Table table :
             {Table::CUPTI_ACTIVITY_KIND_KERNEL, Table::CUPTI_ACTIVITY_KIND_MEMCPY, Table::CUPTI_ACTIVITY_KIND_MEMSET,
              Table::CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, Table::CUPTI_ACTIVITY_KIND_RUNTIME})
            add_index(table, "correlation", "correlationId");
        for (Table table : {Table::CUPTI_ACTIVITY_KIND_RUNTIME, Table::NVTX_EVENTS, Table::OSRT_API})
            add_index(table, "thread", "globalTid, start");
    }

    const Trace& trace_;
    const Tables& tables_;
    nsys::Writer& out_;
    TimeNs zero_;
    std::map<StringId, std::int64_t> pids_, tids_;  // by key; tids_ are GlobalIds
    std::vector<std::int64_t> numbers_;             // in StringIds, by string of the trace; -1: not yet written
    std::unordered_map<StringId, std::int64_t> short_names_;
    std::unordered_map<std::string, std::int64_t> strings_;
};

}  // namespace

Status export_nsys(const Trace& trace, Sink& sink) {
    Result<nsys::Writer> writer = nsys::Writer::open();
    if (!writer.ok()) return writer.error();
    NsysExport(trace, *writer).write();
    if (Status status = writer->finish(); !status) return status;
    auto close = [](std::FILE* open) { std::fclose(open); };
    std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(writer->path().c_str(), "rb"), close);
    if (!file) return Error{ExitCode::unreadable, fmt::format("cannot read back {}", writer->path())};
    struct stat about {};
    if (fstat(fileno(file.get()), &about) != 0)
        return Error{ExitCode::internal, fmt::format("cannot read back {}: {}", writer->path(), std::strerror(errno))};
    std::string piece(1 << 20, '\0');
    auto left = static_cast<std::uint64_t>(about.st_size);
    while (std::size_t got = std::fread(piece.data(), 1, piece.size(), file.get())) {
        sink.write(std::string_view(piece).substr(0, got));
        left -= std::min<std::uint64_t>(left, got);
        if (sink.failed()) return {};
    }
    if (std::ferror(file.get()) != 0)
        return Error{ExitCode::internal, fmt::format("cannot read back {}: {}", writer->path(), std::strerror(errno))};
    if (left > 0) return Error{ExitCode::internal, fmt::format("cannot read back {}: it ends early", writer->path())};
    return {};
}

}  // namespace gpuprof::exporters
