// `gpu_trace`: every kernel, memcpy and memset in start order.
#include <string>

#include <fmt/format.h>

#include "analyze/facts/device_op.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "analyze/tables/event_list.h"

namespace gpuprof::inline tables {
namespace {

constexpr ResultColumn kGpuTraceColumns[] = {
    {"start_ns", CellType::integer, Unit::ns, "Start time, relative to the window start."},
    {"dur_ns", CellType::integer, Unit::ns, "Duration."},
    {"kind", CellType::text, Unit::none, "kernel, memcpy or memset."},
    {"name", CellType::text, Unit::none, "Kernel name; for a memcpy its direction, for a memset the kind of memory."},
    {"device", CellType::integer, Unit::none, "Device ordinal."},
    {"context", CellType::integer, Unit::none, "Context id."},
    {"stream", CellType::integer, Unit::none, "Stream id."},
    {"correlation", CellType::integer, Unit::none, "Correlation id of the call that submitted it."},
    {"grid", CellType::text, Unit::none, "Grid size in blocks, x,y,z."},
    {"block", CellType::text, Unit::none, "Block size in threads, x,y,z."},
    {"registers", CellType::integer, Unit::count, "Registers per thread."},
    {"shared_bytes", CellType::integer, Unit::bytes, "Shared memory per block."},
    {"bytes", CellType::integer, Unit::bytes, "Bytes copied or set."},
    {"gb_per_s", CellType::real, Unit::gb_per_s, "bytes over dur_ns."},
    {"src", CellType::text, Unit::none, "Memory kind of the source."},
    {"dst", CellType::text, Unit::none, "Memory kind of the destination."},
};

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
    Cell text(const Column<StringId>& column, Row row) const {
        return text_cell(trace_, column.value_or(row, kNoString));
    }
    static Cell rate(const Column<std::int64_t>& bytes, DurNs dur, Row row) {
        return bytes.has(row) ? ratio(bytes[row], dur) : kAbsent;
    }
    void add_kernel(Row row) {
        const KernelTable& k = trace_.kernel();
        std::string grid = shape(k.grid_x, k.grid_y, k.grid_z, row),
                    block = shape(k.block_x, k.block_y, k.block_z, row);
        table_.add_row({list_.since_start(k.start[row]), integer(k.dur[row]), "kernel", text(k.name, row),
                        integer(k.device.get(row)), integer(k.context.get(row)), integer(k.stream.get(row)),
                        integer(k.correlation.get(row)), text_cell(grid), text_cell(block),
                        integer(k.registers.get(row)), integer(k.shared_bytes.get(row)), kAbsent, kAbsent, kAbsent,
                        kAbsent});
    }
    void add_copy(Row row) {
        const MemcpyTable& c = trace_.memcpy();
        table_.add_row({list_.since_start(c.start[row]), integer(c.dur[row]), "memcpy", text(c.kind, row),
                        integer(c.device.get(row)), integer(c.context.get(row)), integer(c.stream.get(row)),
                        integer(c.correlation.get(row)), kAbsent, kAbsent, kAbsent, kAbsent, integer(c.bytes.get(row)),
                        rate(c.bytes, c.dur[row], row), text(c.src, row), text(c.dst, row)});
    }
    void add_fill(Row row) {
        const MemsetTable& s = trace_.memset();
        table_.add_row({list_.since_start(s.start[row]), integer(s.dur[row]), "memset", text(s.kind, row),
                        integer(s.device.get(row)), integer(s.context.get(row)), integer(s.stream.get(row)),
                        integer(s.correlation.get(row)), kAbsent, kAbsent, kAbsent, kAbsent, integer(s.bytes.get(row)),
                        rate(s.bytes, s.dur[row], row), kAbsent, kAbsent});
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
