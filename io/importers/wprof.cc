// Importer for wprof's JSON lines (`wprof -J`): a header, then one event a line, with times in seconds since the start of the
// session. What the Perfetto trace of the same session shows is read; events of the scheduler are counted by name.
// Format: github.com/anakryiko/wprof, src/emit.c and src/json.c, schema 3.
#include <fmt/format.h>

#include <cmath>
#include <set>
#include <unordered_map>

#include "core/base/text/function_name.h"
#include "io/importers/formats.h"
#include "io/importers/host_places.h"
#include "io/importers/row_ids.h"
#include "io/importers/source/lines.h"
#include "io/importers/source/memory_limit.h"
#include "io/importers/spool/cupti_names.h"
#include "io/importers/torch/values.h"

namespace gpuprof::inline importers {
namespace {

using torch::JsonView;

class WprofReader {
public:
    WprofReader(Source& source, Batch& batch) : source_(source), batch_(batch), places_(batch), limit_(source) {}

    Status read() {
        Lines lines(source_);
        while (auto line = lines.next()) {
            if (line->empty()) continue;
            if (limit_.is_below(batch_)) return limit_.error();
            simdjson::dom::element event;
            text_.assign(*line);
            if (parser_.parse(text_).get(event) == simdjson::SUCCESS)
                take(JsonView(event));
            else if (lines.ended())
                batch_.lose(Loss::malformed_event, fmt::format("{}: line {}", source_.name(), lines.number()));
            else
                batch_.lose(Loss::truncated, fmt::format("{}: line {}", source_.name(), lines.number()));
        }
        return lines.status();
    }

private:
    struct HostThread {
        StringId process = kNoString, thread = kNoString;
    };

    // Seconds with nine decimals: a double is exact to the nanosecond for 100 days.
    static std::optional<std::int64_t> nanoseconds(const JsonView& seconds) {
        constexpr double kMostSeconds = 9e6;
        auto value = seconds.real();
        if (!value || !(std::abs(*value) < kMostSeconds)) return std::nullopt;
        return std::llround(*value * 1e9);
    }

    void take(const JsonView& event) {
        std::string_view kind = event["t"].text();
        if (kind.empty()) return;  // the header, and stacks
        Tables& tables = batch_.tables;
        if (kind == "cuda_api") return call(event);
        if (kind == "cuda_kernel") return kernel(event);
        if (kind == "cuda_memcpy") return copy(event);
        if (kind == "cuda_memset") {
            auto row = span_row(tables.memset, event);
            if (!row) return;
            put_device_op(tables.memset, *row, event);
            put_text(tables.memset.kind, *row, event["kind"].text());
            if (auto bytes = event["byte_cnt"].integer(); bytes && *bytes >= 0) tables.memset.bytes.set(*row, *bytes);
            return;
        }
        if (kind == "cuda_sync") return sync(event);
        if (kind == "cuda_overhead") {
            if (auto row = span_row(tables.overhead, event)) put_text(tables.overhead.name, *row, event["kind"].text());
            return;
        }
        batch_.lose_named(Loss::unknown_event, "", kind);
    }

    template <class Table>
    std::optional<Row> span_row(Table& table, const JsonView& event) {
        // Of these events `ts` is the start; a version that writes both names it so.
        auto start = nanoseconds(event["start_ts"]), dur = nanoseconds(event["dur"]);
        if (!start) start = nanoseconds(event["ts"]);
        if (!start || !dur) {
            batch_.lose(Loss::missing_field, fmt::format("{}: ts or dur", source_.name()));
            return std::nullopt;
        }
        if (*dur < 0) batch_.lose(Loss::negative_duration, source_.name());
        Row row = table.add();
        table.start.set(row, *start);
        table.dur.set(row, std::max<std::int64_t>(*dur, 0));
        return row;
    }
    void put_text(Column<StringId>& column, Row row, std::string_view text) {
        if (!text.empty()) column.set(row, batch_.intern(text));
    }
    template <class T>
    void put_ordinal(Column<T>& column, Row row, const JsonView& value) {
        auto number = value.integer();
        if (number && *number >= 0 && *number <= INT32_MAX) column.set(row, static_cast<T>(*number));
    }
    HostThread thread_of(const JsonView& event) {
        HostThread found;
        JsonView task = event["task"];
        auto pid = task["pid"].integer(), tid = task["tid"].integer();
        if (pid) found.process = places_.process(*pid);
        if (pid && tid) found.thread = places_.thread(found.process, *tid, task["comm"].text());
        return found;
    }

    template <class Table>
    void put_device_op(Table& table, Row row, const JsonView& event) {
        put_ordinal(table.device, row, event["device_id"]);
        put_ordinal(table.context, row, event["context_id"]);
        put_ordinal(table.stream, row, event["stream_id"]);
        if (StringId owner = thread_of(event).process; owner != kNoString) table.process.set(row, owner);
        set_id(table.correlation, row, event["corr_id"].integer());
        auto device = event["device_id"].integer();
        if (!device || *device < 0 || *device > INT32_MAX || !devices_.insert(*device).second) return;
        DeviceTable& devices = batch_.tables.device;
        Row known = devices.add();
        devices.device.set(known, static_cast<std::int32_t>(*device));
        devices.vendor.set(known, batch_.intern("nvidia"));
    }

    void kernel(const JsonView& event) {
        KernelTable& table = batch_.tables.kernel;
        auto row = span_row(table, event);
        if (!row) return;
        put_device_op(table, *row, event);
        auto [name, added] = readable_.try_emplace(std::string(event["name"].text()), kNoString);
        if (added) name->second = batch_.intern(demangled(name->first));
        table.name.set(*row, name->second);
        Column<std::int32_t>* const shapes[][3] = {{&table.grid_x, &table.grid_y, &table.grid_z},
                                                   {&table.block_x, &table.block_y, &table.block_z}};
        std::size_t which = 0;
        for (std::string_view key : {"grid", "block"}) {
            std::size_t i = 0;
            event[key].each([&](const JsonView& size) {
                put_ordinal(*shapes[which][i], *row, size);
                return ++i < 3;
            });
            ++which;
        }
    }

    void copy(const JsonView& event) {
        MemcpyTable& table = batch_.tables.memcpy;
        auto row = span_row(table, event);
        if (!row) return;
        put_device_op(table, *row, event);
        put_text(table.kind, *row, event["kind"].text());
        put_text(table.src, *row, event["src_kind"].text());
        put_text(table.dst, *row, event["dst_kind"].text());
        if (auto bytes = event["byte_cnt"].integer(); bytes && *bytes >= 0) table.bytes.set(*row, *bytes);
    }

    void call(const JsonView& event) {
        ApiCallTable& table = batch_.tables.api_call;
        auto row = span_row(table, event);
        if (!row) return;
        HostThread at = thread_of(event);
        if (at.thread != kNoString) table.thread.set(*row, at.thread);
        if (at.process != kNoString) table.process.set(*row, at.process);
        std::string_view name = cuda::without_version(event["name"].text());
        put_text(table.name, *row, name);
        table.api.set(*row, batch_.intern(name.starts_with("cuda") ? "runtime" : "driver"));
        set_id(table.correlation, *row, event["corr_id"].integer());
    }

    void sync(const JsonView& event) {
        SyncTable& table = batch_.tables.sync;
        auto row = span_row(table, event);
        if (!row) return;
        std::string_view kind = event["kind"].text();
        if (std::string_view known = cuda::sync_kind_of(kind); !known.empty()) kind = known;
        put_text(table.kind, *row, kind);
        put_ordinal(table.device, *row, event["device_id"]);
        put_ordinal(table.context, *row, event["context_id"]);
        put_ordinal(table.stream, *row, event["stream_id"]);
        set_id(table.correlation, *row, event["corr_id"].integer());
    }

    Source& source_;
    Batch& batch_;
    HostPlaces places_;
    MemoryLimit limit_;
    simdjson::dom::parser parser_;
    std::string text_;
    std::set<std::int64_t> devices_;
    std::unordered_map<std::string, StringId> readable_;  // names of kernels, by their mangled forms
};

}  // namespace

int sniff_wprof(std::string_view head) {
    std::string_view line = head.substr(0, head.find('\n'));
    auto has = [line](std::string_view part) { return line.find(part) != line.npos; };
    return line.starts_with('{') && has("\"version\"") && has("\"timer_freq_hz\"") && has("\"capture_") ? 90 : 0;
}

Status import_wprof(Source& source, TraceBuilder& builder) {
    Batch batch;
    WprofReader reader(source, batch);
    if (Status read = reader.read(); !read) return read;
    if (source.damaged()) batch.lose(Loss::bad_compression, source.name());
    const Tables& tables = batch.tables;
    if (tables.kernel.rows + tables.memcpy.rows + tables.memset.rows + tables.api_call.rows + tables.sync.rows == 0)
        return Error{ExitCode::unreadable,
                     fmt::format("cannot read {}: wprof's JSON lines without GPU work or calls; record with wprof and "
                                 "its CUDA feature",
                                 source.name())};
    builder.set_tool("wprof");
    builder.append(std::move(batch));
    return {};
}

}  // namespace gpuprof::importers
