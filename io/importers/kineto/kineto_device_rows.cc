// RowWriter's device side: kernels, copies, fills, synchronisation, device ranges, launch notes. Device
// and stream of an event are its arguments of that name, otherwise its pid and tid, where Kineto draws it.
#include <algorithm>

#include "core/base/text/ascii.h"
#include "io/importers/device_names.h"
#include "io/importers/kineto/kineto_number.h"
#include "io/importers/kineto/row_writer.h"
#include "io/importers/spool/cupti_names.h"

namespace gpuprof::inline importers::kineto {
namespace {

// Up to three integers of a JSON array such as [16, 32, 1]. Returns how many there were; 0 if it is not such an array.
std::size_t read_shape(std::string_view text, std::int64_t (&values)[3]) {
    static constexpr std::string_view kBlank = " \t\r\n";  // an indented file breaks arrays into lines
    if (text.size() < 2 || text.front() != '[' || text.back() != ']') return 0;
    text = text.substr(1, text.size() - 2);
    std::size_t n = 0;
    while (n < 3) {
        std::size_t comma = text.find(',');
        std::string_view item = text.substr(0, comma);
        item.remove_prefix(std::min(item.find_first_not_of(kBlank), item.size()));
        item.remove_suffix(item.size() - (item.find_last_not_of(kBlank) + 1));
        if (parse_integer(item, values[n]) != Number::ok || values[n] < 0 || values[n] > INT32_MAX) return 0;
        ++n;
        if (comma == std::string_view::npos) return n;
        text.remove_prefix(comma + 1);
    }
    return 0;
}

// "HtoD", "Pageable" and "Device" of `Memcpy HtoD (Pageable -> Device)`; "Device" of `Memset (Device)` is `source`.
struct CopyName {
    std::string_view kind, source, destination;
};

CopyName parse_copy_name(std::string_view name) {
    CopyName parts;
    constexpr std::string_view kPaddleCopy = "MEMCPY_";
    if (name.starts_with(kPaddleCopy)) return {name.substr(kPaddleCopy.size()), {}, {}};
    std::size_t open = name.find(" (");
    if (open == std::string_view::npos || name.back() != ')') return parts;
    std::string_view inside = name.substr(open + 2, name.size() - open - 3);
    std::size_t arrow = inside.find(" -> ");
    parts.source = inside.substr(0, arrow);
    if (arrow != std::string_view::npos) parts.destination = inside.substr(arrow + 4);
    constexpr std::string_view kCopy = "Memcpy ";
    if (name.starts_with(kCopy) && open > kCopy.size()) parts.kind = name.substr(kCopy.size(), open - kCopy.size());
    return parts;
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = to_lower(c);
    return result;
}

// Of Cuspy: "pageable" and "device_static", or CUPTI's number.
std::string_view kind_of_memory(const Event& event, Field field) {
    std::string_view text = event.text(field);
    std::int64_t number = 0;
    if (parse_integer(text, number) == Number::ok) return number > 0 ? cuda::memory_kind(number) : std::string_view();
    if (text == "device_static") return cuda::memory_kind(6);
    if (text == "managed_static") return cuda::memory_kind(7);
    return text == "unknown" ? std::string_view() : text;
}

bool is_copy_kind(std::string_view kind) { return kind.size() == 4 && kind.substr(1, 2) == "to"; }

}  // namespace

// CUPTI writes all ones for "none" (CUPTI_SYNCHRONIZATION_INVALID_VALUE); Kineto prints it signed or unsigned.
template <class T>
void RowWriter::put_ordinal(Column<T>& column, Row row, const Event& event, Field field) {
    std::optional<std::int64_t> value = integer(event, field);
    if (value && *value >= 0 && *value != UINT32_MAX) put(column, row, event, field);
}

void RowWriter::put_device(Column<std::int32_t>& column, Row row, const Event& event) {
    if (event.has(Field::device) && event[Field::device].is_string()) {
        if (auto ordinal = device_ordinal(event.text(Field::device))) return column.set(row, *ordinal);
    }
    put_ordinal(column, row, event, event.has(Field::device) ? Field::device : Field::pid);
}

void RowWriter::put_stream(Column<std::int64_t>& column, Row row, const Event& event) {
    put_ordinal(column, row, event, event.has(Field::stream) ? Field::stream : Field::tid);
}

void RowWriter::put_shape(Column<std::int32_t>* const (&columns)[3], Row row, const Event& event, Field field) {
    if (!event.has(field)) return;
    std::int64_t values[3];
    std::size_t n = read_shape(event[field].text(), values);
    if (n == 0) lose(Loss::bad_number, offset_);
    for (std::size_t i = 0; i < n; ++i) columns[i]->set(row, static_cast<std::int32_t>(values[i]));
}

template <class Table>
void RowWriter::put_device_op(Table& table, Row row, const Event& event, Span span) {
    table.start.set(row, span.start);
    table.dur.set(row, span.dur);
    put_device(table.device, row, event);
    put(table.context, row, event, Field::context);
    put_stream(table.stream, row, event);
    put(table.correlation, row, event, Field::correlation);
    put(table.external_id, row, event, Field::external_id);
    // Graph 0 is CUPTI's "not in a graph".
    if (integer(event, Field::graph_id).value_or(0) == 0) return;
    put(table.graph_id, row, event, Field::graph_id);
    put(table.graph_node_id, row, event, Field::graph_node_id);
}

void RowWriter::write_kernel(const Event& event, Span span) {
    Batch& batch = event.has(Field::grid) ? block_.rows : block_.late;
    KernelTable& kernel = batch.tables.kernel;
    Row row = kernel.add();
    put_device_op(kernel, row, event, span);
    put_text(kernel.name, row, event, Field::name, batch);
    put_shape({&kernel.grid_x, &kernel.grid_y, &kernel.grid_z}, row, event, Field::grid);
    put_shape({&kernel.block_x, &kernel.block_y, &kernel.block_z}, row, event, Field::block);
    put(kernel.registers, row, event, Field::registers);
    put(kernel.shared_bytes, row, event, Field::shared_bytes);
    // torch.cuda._annotate_cuda_graph_trace adds what mark_kernels called the node when it was captured.
    bool is_node = kernel.graph_node_id.size() > row;
    if (is_node) put_text(kernel.framework_op, row, event, Field::label_name, batch);
    if (event.has(Field::collective)) write_collective(event, true);
}

void RowWriter::write_memcpy(const Event& event, Span span) {
    Batch& batch = event.has(Field::bytes) ? block_.rows : block_.late;
    MemcpyTable& copy = batch.tables.memcpy;
    Row row = copy.add();
    put_device_op(copy, row, event, span);
    CopyName name = parse_copy_name(event.text(Field::name));
    if (!is_copy_kind(name.kind)) name.kind = event.text(Field::kind);
    if (event.has(Field::copy_kind)) {
        name.kind = event.text(Field::copy_kind);
        name.source = kind_of_memory(event, Field::source_kind);
        name.destination = kind_of_memory(event, Field::target_kind);
    }
    if (is_copy_kind(name.kind)) copy.kind.set(row, batch.intern(name.kind));
    if (!name.source.empty()) copy.src.set(row, batch.intern(lower(name.source)));
    if (!name.destination.empty()) copy.dst.set(row, batch.intern(lower(name.destination)));
    put(copy.bytes, row, event, Field::bytes);
}

void RowWriter::write_memset(const Event& event, Span span) {
    Batch& batch = event.has(Field::bytes) ? block_.rows : block_.late;
    MemsetTable& fill = batch.tables.memset;
    Row row = fill.add();
    put_device_op(fill, row, event, span);
    CopyName name = parse_copy_name(event.text(Field::name));
    if (event.has(Field::memory_kind)) name.source = kind_of_memory(event, Field::memory_kind);
    if (!name.source.empty()) fill.kind.set(row, batch.intern(lower(name.source)));
    put(fill.bytes, row, event, Field::bytes);
}

void RowWriter::write_sync(const Event& event, Span span) {
    SyncTable& sync = block_.rows.tables.sync;
    Row row = sync.add();
    sync.start.set(row, span.start);
    sync.dur.set(row, span.dur);
    put_device(sync.device, row, event);
    put(sync.context, row, event, Field::context);
    put_stream(sync.stream, row, event);
    put_text(sync.kind, row, event, event.has(Field::sync_kind) ? Field::sync_kind : Field::name, block_.rows);
    put(sync.correlation, row, event, Field::correlation);
    put_ordinal(sync.wait_on_stream, row, event, Field::wait_on_stream);
    put_ordinal(sync.wait_on_correlation, row, event, Field::wait_on_correlation);
}

void RowWriter::write_device_range(const Event& event, Span span) {
    DeviceRangeTable& range = block_.rows.tables.device_range;
    Row row = range.add();
    range.start.set(row, span.start);
    range.dur.set(row, span.dur);
    put_device(range.device, row, event);
    put_stream(range.stream, row, event);
    put_text(range.name, row, event, Field::name, block_.rows);
    put(range.external_id, row, event, Field::external_id);
}

void RowWriter::write_note(const Event& event) {
    std::optional<std::int64_t> correlation = integer(event, Field::correlation);
    if (!correlation) return;
    LaunchNote note{*correlation, integer(event, Field::size), integer(event, Field::shared_bytes), {}, {}};
    std::int64_t values[3];
    std::size_t n = read_shape(event.text(Field::grid), values);
    for (std::size_t i = 0; i < n; ++i) note.grid[i] = static_cast<std::int32_t>(values[i]);
    n = read_shape(event.text(Field::block), values);
    for (std::size_t i = 0; i < n; ++i) note.block[i] = static_cast<std::int32_t>(values[i]);
    block_.notes.push_back(note);
}

}  // namespace gpuprof::importers::kineto
