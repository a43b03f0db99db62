// Creates a capture of any number of kernels by repeating a real recording. Each repetition follows the previous one,
// with its own correlation and external ids, and with a few hundred ns of noise on starts and durations; otherwise the
// compressor would exploit the repetition. Tables of the framework (op, python_call, ...) only with --all.
//   make_big_capture IN OUT KERNELS [--all]
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <random>
#include <string>
#include <vector>

#include "core/format/writer.h"
#include "io/exporters/exporter.h"
#include "io/importers/importer.h"

namespace {

using namespace gpuprof;

class FdSink final : public Sink {
public:
    explicit FdSink(int fd) : fd_(fd) {}
    bool failed() const override { return failed_; }

private:
    void put(std::string_view bytes) override {
        while (!bytes.empty() && !failed_) {
            ssize_t written = ::write(fd_, bytes.data(), bytes.size());
            failed_ = written <= 0;
            if (!failed_) bytes.remove_prefix(static_cast<std::size_t>(written));
        }
    }
    int fd_;
    bool failed_ = false;
};

// Offsets that one repetition adds to times and ids.
struct Stride {
    TimeNs time = 0;
    std::int64_t correlation = 0, external_id = 0;
};

std::int64_t stride_of(const ColumnSpec& spec, const Stride& stride) {
    if (spec.type == ColumnType::Time) return stride.time;
    if (spec.name == "correlation" || spec.name == "wait_on_correlation") return stride.correlation;
    return spec.name == "external_id" ? stride.external_id : 0;
}

// The smallest and the largest id.
struct Range {
    std::int64_t low = INT64_MAX, high = INT64_MIN;
    std::int64_t length() const { return high < low ? 1 : high - low + 1; }
};

Stride measure(const Trace& trace) {
    Range correlations, external_ids;
    trace.tables().each_table([&](const TableSpec&, const auto& table) {
        table.each_column([&](const ColumnSpec& spec, const auto& column) {
            using Value = typename std::remove_cvref_t<decltype(column)>::value_type;
            if (!std::is_same_v<Value, std::int64_t> || (spec.name != "correlation" && spec.name != "external_id"))
                return;
            Range& range = spec.name == "correlation" ? correlations : external_ids;
            for (Row row = 0; row < table.rows; ++row) {
                if (!column.has(row)) continue;
                range.low = std::min(range.low, static_cast<std::int64_t>(column[row]));
                range.high = std::max(range.high, static_cast<std::int64_t>(column[row]));
            }
        });
    });
    return {trace.window().end - trace.window().start + 1000, correlations.length(), external_ids.length()};
}

template <class Table>
constexpr bool kHasSpan = requires(Table t) {
    t.start;
    t.dur;
};

template <class Table>
void add_noise(Table& table, std::size_t first, std::mt19937& random) {
    TimeNs* start = table.start.mutable_values();
    DurNs* dur = table.dur.mutable_values();
    for (std::size_t row = first; row < table.rows; ++row) {
        start[row] += random() % 256;
        dur[row] += random() % 64;
        if (row > 0) start[row] = std::max(start[row], start[row - 1]);
    }
}

template <class Value>
void append_shifted(Column<Value>& into, const Column<Value>& once, std::int64_t add) {
    std::size_t first = into.size();
    into.append(once);
    if (add == 0 || once.none_present()) return;
    for (std::size_t row = first; row < into.size(); ++row)
        if (into.has(static_cast<Row>(row)))
            into.mutable_values()[row] = static_cast<Value>(into.mutable_values()[row] + add);
}

// The column at `position` of a table.
template <class Wanted, class Table>
const Wanted& column_at(const Table& table, std::size_t position) {
    const Wanted* found = nullptr;
    table.each_column([&](const ColumnSpec&, const auto& column) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(column)>, Wanted>)
            if (position == 0) found = &column;
        --position;
    });
    return *found;
}

template <class Table>
void repeat(const Table& once, std::size_t times, const Stride& stride, Table& into) {
    std::mt19937 random(1);
    for (std::size_t i = 0; i < times; ++i) {
        std::size_t first = into.rows, position = 0;
        into.rows += once.rows;
        into.each_column([&](const ColumnSpec& spec, auto& column) {
            using Here = std::remove_reference_t<decltype(column)>;
            const Here& from = column_at<Here>(once, position++);
            std::int64_t add = stride_of(spec, stride) * static_cast<std::int64_t>(i);
            if constexpr (std::is_same_v<typename Here::value_type, StringId>)
                column.append(from);
            else
                append_shifted(column, from, add);
        });
        if constexpr (kHasSpan<Table>) add_noise(into, first, random);
    }
}

bool of_device(std::string_view table) {
    for (std::string_view name : {"kernel", "memcpy", "memset", "sync", "api_call"})
        if (table == name) return true;
    return false;
}

Status write(const Trace& trace, std::size_t times, bool all, Sink& sink) {
    CaptureWriter writer(sink);
    Status status = writer.begin();
    Stride stride = measure(trace);
    trace.tables().each_table([&](const TableSpec& spec, const auto& table) {
        using Table = std::remove_cvref_t<decltype(table)>;
        bool whole = spec.name == "process" || spec.name == "thread" || spec.name == "device" || spec.name == "meta";
        if (!status || !(whole || all || of_device(spec.name))) return;
        Table repeated;
        repeat(table, whole ? 1 : times, stride, repeated);
        std::vector<ColumnView> columns;
        repeated.each_column([&](const ColumnSpec& column_spec, const auto& column) {
            if (!column.none_present())
                columns.push_back({column_spec.name, column_spec.type, name_of(column_spec.unit), column.values(),
                                   column.validity()});
        });
        status = writer.write({spec.name, repeated.rows, columns}, trace.strings());
    });
    return status ? writer.end() : status;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return fmt::print(stderr, "usage: make_big_capture IN OUT KERNELS [--all]\n"), 2;
    Result<Trace> trace = open_file(argv[1]);
    if (!trace) return fmt::print(stderr, "{}\n", trace.error().message), 3;
    std::size_t once = trace->kernel().rows;
    if (once == 0) return fmt::print(stderr, "{}: no kernels to repeat\n", argv[1]), 4;
    FdSink sink(::open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0666));
    std::size_t times = (std::stoull(argv[3]) + once - 1) / once;
    Status status = write(*trace, times, argc > 4 && std::string_view(argv[4]) == "--all", sink);
    if (!status) return fmt::print(stderr, "{}\n", status.error().message), 6;
    fmt::print("{}: {} kernels\n", argv[2], times * once);
    return 0;
}
