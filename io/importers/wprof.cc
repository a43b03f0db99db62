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
#include "io/importers/row_values.h"
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
            set_text(batch_, tables.memset.kind, *row, event["kind"].text());
            set_count(tables.memset.bytes, *row, event["byte_cnt"].integer());
            return;
        }
        if (kind == "cuda_sync") return sync(event);
        if (kind == "cuda_overhead") {
            if (auto row = span_row(tables.overhead, event))
                set_text(batch_, tables.overhead.name, *row, event["kind"].text());
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
        return add_span(table, *start, std::max<std::int64_t>(*dur, 0));
    }
    static std::optional<std::int32_t> ordinal(const JsonView& value) {
        auto number = value.integer();
        bool known = number && *number >= 0 && *number <= INT32_MAX;
        return known ? std::optional(static_cast<std::int32_t>(*number)) : std::nullopt;
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
        DeviceWork work;
        work.process = thread_of(event).process;
        work.device = ordinal(event["device_id"]);
        work.context = ordinal(event["context_id"]);
        work.stream = ordinal(event["stream_id"]);
        work.correlation = event["corr_id"].integer();
        set_work(table, row, work);
        if (work.device) add_device(batch_, devices_, *work.device, "nvidia");
    }

    void kernel(const JsonView& event) {
        KernelTable& table = batch_.tables.kernel;
        auto row = span_row(table, event);
        if (!row) return;
        put_device_op(table, *row, event);
        auto [name, added] = readable_.try_emplace(std::string(event["name"].text()), kNoString);
        if (added) name->second = batch_.intern(demangled(name->first));
        table.name.set(*row, name->second);
        ShapeColumns shape(table);
        auto put = [&](std::string_view key, Column<std::int32_t>* const(&columns)[3]) {
            std::size_t i = 0;
            event[key].each([&](const JsonView& size) {
                set_small(*columns[i], *row, size.integer());
                return ++i < 3;
            });
        };
        put("grid", shape.grid);
        put("block", shape.block);
    }

    void copy(const JsonView& event) {
        MemcpyTable& table = batch_.tables.memcpy;
        auto row = span_row(table, event);
        if (!row) return;
        put_device_op(table, *row, event);
        set_text(batch_, table.kind, *row, event["kind"].text());
        set_text(batch_, table.src, *row, event["src_kind"].text());
        set_text(batch_, table.dst, *row, event["dst_kind"].text());
        set_count(table.bytes, *row, event["byte_cnt"].integer());
    }

    void call(const JsonView& event) {
        ApiCallTable& table = batch_.tables.api_call;
        auto row = span_row(table, event);
        if (!row) return;
        HostThread at = thread_of(event);
        set_known(table.thread, *row, at.thread);
        set_known(table.process, *row, at.process);
        std::string_view name = cuda::without_version(event["name"].text());
        set_text(batch_, table.name, *row, name);
        table.api.set(*row, batch_.intern(name.starts_with("cuda") ? "runtime" : "driver"));
        set_id(table.correlation, *row, event["corr_id"].integer());
    }

    void sync(const JsonView& event) {
        SyncTable& table = batch_.tables.sync;
        auto row = span_row(table, event);
        if (!row) return;
        std::string_view kind = event["kind"].text();
        if (std::string_view known = cuda::sync_kind_of(kind); !known.empty()) kind = known;
        set_text(batch_, table.kind, *row, kind);
        set_small(table.device, *row, event["device_id"].integer());
        set_small(table.context, *row, event["context_id"].integer());
        set_small(table.stream, *row, event["stream_id"].integer());
        set_id(table.correlation, *row, event["corr_id"].integer());
    }

    Source& source_;
    Batch& batch_;
    HostPlaces places_;
    MemoryLimit limit_;
    simdjson::dom::parser parser_;
    std::string text_;
    std::set<std::int32_t> devices_;
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
