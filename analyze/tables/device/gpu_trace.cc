// `gpu_trace`: every kernel, memcpy and memset in start order.
#include <string>

#include <fmt/format.h>

#include "analyze/facts/device_op.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "analyze/tables/event_list.h"

namespace gpuprof::inline tables {
namespace {

// A kernel, memcpy or memset; what its kind does not have is absent.
struct GpuTraceRow {
    const Trace& trace;
    Cell start;
    DurNs dur;
    std::string_view kind;
    StringId name;
    std::optional<std::int32_t> device, context;
    std::optional<std::int64_t> stream, correlation;
    std::string grid = {}, block = {};
    std::optional<std::int32_t> registers = {};
    std::optional<std::int64_t> shared_bytes = {}, bytes = {};
    StringId src = kNoString, dst = kNoString;
};

constexpr auto kGpuTraceColumns = columns_of<GpuTraceRow>({
    {"start_ns", CellType::integer, Unit::ns, "Start time, relative to the window start.",
     [](auto& r) { return r.start; }},
    {"dur_ns", CellType::integer, Unit::ns, "Duration.", [](auto& r) { return r.dur; }},
    {"kind", CellType::text, Unit::none, "kernel, memcpy or memset.", [](auto& r) { return r.kind; }},
    {"name", CellType::text, Unit::none, "Kernel name; for a memcpy its direction, for a memset the kind of memory.",
     [](auto& r) { return text_cell(r.trace, r.name); }},
    {"device", CellType::integer, Unit::none, "Device ordinal.", [](auto& r) { return r.device; }},
    {"context", CellType::integer, Unit::none, "Context id.", [](auto& r) { return r.context; }},
    {"stream", CellType::integer, Unit::none, "Stream id.", [](auto& r) { return r.stream; }},
    {"correlation", CellType::integer, Unit::none, "Correlation id of the call that submitted it.",
     [](auto& r) { return r.correlation; }},
    {"grid", CellType::text, Unit::none, "Grid size in blocks, x,y,z.", [](auto& r) { return text_cell(r.grid); }},
    {"block", CellType::text, Unit::none, "Block size in threads, x,y,z.", [](auto& r) { return text_cell(r.block); }},
    {"registers", CellType::integer, Unit::count, "Registers per thread.", [](auto& r) { return r.registers; }},
    {"shared_bytes", CellType::integer, Unit::bytes, "Shared memory per block.",
     [](auto& r) { return r.shared_bytes; }},
    {"bytes", CellType::integer, Unit::bytes, "Bytes copied or set.", [](auto& r) { return r.bytes; }},
    {"gb_per_s", CellType::real, Unit::gb_per_s, "bytes over dur_ns.",
     [](auto& r) { return r.bytes ? ratio(*r.bytes, r.dur) : kAbsent; }},
    {"src", CellType::text, Unit::none, "Memory kind of the source.",
     [](auto& r) { return text_cell(r.trace, r.src); }},
    {"dst", CellType::text, Unit::none, "Memory kind of the destination.",
     [](auto& r) { return text_cell(r.trace, r.dst); }},
});

std::string shape(const Column<std::int32_t>& x, const Column<std::int32_t>& y, const Column<std::int32_t>& z,
                  Row row) {
    return x.has(row) && y.has(row) && z.has(row) ? fmt::format("{},{},{}", x[row], y[row], z[row]) : "";
}

class Rows {
public:
    Rows(const Facts& facts, ResultTable& table) : trace_(facts.trace()), list_(facts, table), table_(table) {}

    void add(DeviceOp kind, Row row) {
        if (!list_.wants_row()) return;
        switch (kind) {
            case DeviceOp::kernel: return add_kernel(row);
            case DeviceOp::memcpy: return add_copy(row);
            case DeviceOp::memset: return add_fill(row);
            case DeviceOp::none: return;
        }
    }

private:
    template <class Table>
    GpuTraceRow row_of(std::string_view kind, const Column<StringId>& name, const Table& table, Row row) const {
        return {.trace = trace_,
                .start = list_.since_start(table.start[row]),
                .dur = table.dur[row],
                .kind = kind,
                .name = name.value_or(row, kNoString),
                .device = table.device.get(row),
                .context = table.context.get(row),
                .stream = table.stream.get(row),
                .correlation = table.correlation.get(row)};
    }
    void add_kernel(Row row) {
        const KernelTable& k = trace_.kernel();
        GpuTraceRow to = row_of("kernel", k.name, k, row);
        to.grid = shape(k.grid_x, k.grid_y, k.grid_z, row);
        to.block = shape(k.block_x, k.block_y, k.block_z, row);
        to.registers = k.registers.get(row);
        to.shared_bytes = k.shared_bytes.get(row);
        table_.add(kGpuTraceColumns, to);
    }
    void add_copy(Row row) {
        const MemcpyTable& c = trace_.memcpy();
        GpuTraceRow to = row_of("memcpy", c.kind, c, row);
        to.bytes = c.bytes.get(row);
        to.src = c.src.value_or(row, kNoString);
        to.dst = c.dst.value_or(row, kNoString);
        table_.add(kGpuTraceColumns, to);
    }
    void add_fill(Row row) {
        const MemsetTable& s = trace_.memset();
        GpuTraceRow to = row_of("memset", s.kind, s, row);
        to.bytes = s.bytes.get(row);
        table_.add(kGpuTraceColumns, to);
    }
    const Trace& trace_;
    EventList list_;
    ResultTable& table_;
};

// The next row of one table on the selected devices.
template <class Table>
struct Head {
    const Table& table;
    std::int64_t only;
    Row row = 0;
    bool find_next() {
        while (row < table.rows && only >= 0 && table.device.value_or(row, -1) != only) ++row;
        return row < table.rows;
    }
    TimeNs start() { return find_next() ? table.start[row] : INT64_MAX; }
};

Result<ResultTable> gpu_trace_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    std::int64_t only = facts.options().device;
    ResultTable table("gpu_trace", kGpuTraceColumns);
    Rows rows(facts, table);
    Head<KernelTable> kernels{trace.kernel(), only};
    Head<MemcpyTable> copies{trace.memcpy(), only};
    Head<MemsetTable> fills{trace.memset(), only};
    while (kernels.find_next() | copies.find_next() | fills.find_next()) {
        TimeNs kernel = kernels.start(), copy = copies.start(), fill = fills.start();
        if (kernels.find_next() && kernel <= copy && kernel <= fill)
            rows.add(DeviceOp::kernel, kernels.row++);
        else if (copies.find_next() && copy <= fill)
            rows.add(DeviceOp::memcpy, copies.row++);
        else
            rows.add(DeviceOp::memset, fills.row++);
    }
    return table;
}

}  // namespace

const Analysis kGpuTrace{"gpu_trace", "cuda_gpu_trace", "Every kernel, memcpy and memset in start order.",
                         kGpuTraceColumns, gpu_trace_table};

}  // namespace gpuprof::tables
