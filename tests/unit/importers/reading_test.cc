// The definitions of reading.h. The unit tests are globbed as *_test.cc; this file has no tests of its own.
#include "tests/unit/importers/read_text.h"
#include "tests/unit/source_folder.h"

#include <fmt/format.h>
#include <zlib.h>

namespace gpuprof::test {

Trace import_text(std::string_view bytes) {
    auto source = memory_source("t", bytes);
    Result<Trace> trace = source ? import_trace(**source) : Result<Trace>(source.error());
    if (trace) return std::move(trace).value();
    ADD_FAILURE() << trace.error().message;
    return TraceBuilder(Origin{}).finish();
}

Error import_error(std::string_view bytes) {
    auto source = memory_source("t", bytes);
    Result<Trace> trace = source ? import_trace(**source) : Result<Trace>(source.error());
    if (!trace) return trace.error();
    ADD_FAILURE() << "was imported";
    return {};
}

std::string object_trace(std::string_view events, std::string_view header) {
    return fmt::format("{{{}{}\"traceEvents\": [{}]}}", header, header.empty() ? "" : ", ", events);
}

std::string event(std::string_view category, std::string_view name, std::string_view args, std::string_view ts,
                  std::string_view dur, std::string_view pid, std::string_view tid) {
    return fmt::format(
        R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
        category, name, pid, tid, ts, dur, args);
}

namespace {

template <class T>
std::string shown(const Trace& trace, T value) {
    if constexpr (std::is_same_v<T, StringId>) {
        return std::string(trace.text(value));
    } else {
        return fmt::format("{}", value);
    }
}

}  // namespace

std::string dump(const Trace& trace, bool with_losses) {
    std::string text;
    trace.tables().each_table([&](const TableSpec& spec, const auto& table) {
        if (spec.name == "loss" && !with_losses) return;
        for (Row row = 0; row < table.rows; ++row) {
            text += spec.name;
            table.each_column([&](const ColumnSpec& column_spec, const auto& column) {
                if (column.has(row)) text += fmt::format(" {}={}", column_spec.name, shown(trace, column[row]));
            });
            text += "\n";
        }
    });
    return text;
}

namespace {

Row loss_row(const Trace& trace, std::string_view kind) {
    const LossTable& loss = trace.tables().loss;
    for (Row row = 0; row < loss.rows; ++row)
        if (trace.text(loss.kind[row]) == kind) return row;
    return kNoRow;
}

}  // namespace

std::string loss_place(const Trace& trace, std::string_view kind) {
    Row row = loss_row(trace, kind);
    return row == kNoRow ? "" : std::string(trace.text(trace.tables().loss.place[row]));
}

std::string fixture(const std::string& name) {
    auto source = open_source(source_folder() + "/tests/fixtures/" + name);
    std::string text;
    if (!source) {
        ADD_FAILURE() << source.error().message;
        return text;
    }
    for (std::size_t got = 1; got != 0;) {
        std::size_t size = text.size();
        text.resize(size + (1 << 20));
        got = (*source)->read(text.data() + size, 1 << 20).value();
        text.resize(size + got);
    }
    return text;
}

std::string gzip(std::string_view text) {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string packed(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

}  // namespace gpuprof::test
