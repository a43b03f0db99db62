// `arithmetic`: what did operators compute and move, how fast, and how close to the device's peaks? Derived from
// recorded shapes (record_shapes=True); this is how compute-bound and bandwidth-bound work are distinguished. FLOPs
// count a multiply-add as two. Bytes are a model: inputs once, outputs once. Actual device-memory traffic may be higher
// (data that misses the caches) or lower (data already in L2), so a rate above the memory bandwidth is shown as 100 %,
// and a note counts such operators.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/facts/kernels/op_rates.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

std::string math_text(MathPath path) {
    if (path.unit == MathUnit::unknown) return std::string(to_string(path.type));
    return std::string(to_string(path.unit)) + " " + std::string(to_string(path.type));
}

struct ArithmeticRow {
    const Trace& trace;
    const OpRate& rate;

    Cell per_second(const std::optional<double>& amount, double scale) const {
        return amount ? ratio(*amount * scale, static_cast<double>(rate.device_ns) * 1e-9) : kAbsent;
    }
};

constexpr auto kArithmeticColumns = columns_of<ArithmeticRow>({
    {"name", CellType::text, Unit::none, "Operator.", [](auto& r) { return text_cell(r.trace, r.rate.name); }},
    {"shapes", CellType::text, Unit::none, "Input shapes.", [](auto& r) { return text_cell(r.trace, r.rate.dims); }},
    {"types", CellType::text, Unit::none, "Input types.", [](auto& r) { return text_cell(r.trace, r.rate.types); }},
    {"count", CellType::integer, Unit::count, "Number of calls that launched kernels.",
     [](auto& r) { return r.rate.count; }},
    {"device_ns", CellType::integer, Unit::ns, "Total duration of the kernels launched directly by these calls.",
     [](auto& r) { return r.rate.device_ns; }},
    {"flops", CellType::real, Unit::flop, "Floating-point operations of all calls.",
     [](auto& r) { return r.rate.flops; }},
    {"bytes", CellType::real, Unit::bytes,
     "Modelled bytes of all calls: each input and output counted once; not measured memory traffic.",
     [](auto& r) { return r.rate.bytes; }},
    {"flop_per_byte", CellType::real, Unit::flop_per_byte, "Arithmetic intensity.",
     [](auto& r) { return r.rate.flops && r.rate.bytes ? ratio(*r.rate.flops, *r.rate.bytes) : kAbsent; }},
    {"flop_per_s", CellType::real, Unit::flop_per_s, "Achieved FLOP/s.",
     [](auto& r) { return r.per_second(r.rate.flops, 1); }},
    {"gb_per_s", CellType::real, Unit::gb_per_s, "Achieved bandwidth, from the modelled bytes.",
     [](auto& r) { return r.per_second(r.rate.bytes, 1e-9); }},
    {"compute_pct", CellType::real, Unit::percent,
     "Achieved FLOP/s as a share of the device's dense peak for this arithmetic.",
     [](auto& r) { return r.rate.compute_pct; }},
    {"bandwidth_pct", CellType::real, Unit::percent,
     "Achieved GB/s as a share of the device's memory bandwidth, capped at 100 (see the notes).",
     [](auto& r) { return r.rate.bandwidth_pct ? real(std::min(100.0, *r.rate.bandwidth_pct)) : kAbsent; }},
    {"math", CellType::text, Unit::none, "Math unit and number format, from the kernel name or the operands.",
     [](auto& r) { return math_text(r.rate.path); }},
    {"bound", CellType::text, Unit::none,
     "compute or memory, whichever peak is closer; absent when both are below 25 %.",
     [](auto& r) { return r.rate.bound ? Cell{name_of(*r.rate.bound)} : kAbsent; }},
});

Result<ResultTable> arithmetic_table(const Facts& facts) {
    ResultTable table("arithmetic", kArithmeticColumns);
    table.wanted = {"device_ns", "flop_per_byte", "compute_pct", "bandwidth_pct", "bound"};
    table.handle_prefix = "ar";
    for (const OpRate& rate : facts.get<OpRates>().rates) table.add(kArithmeticColumns, {facts.trace(), rate});
    auto beyond = std::count_if(facts.get<OpRates>().rates.begin(), facts.get<OpRates>().rates.end(),
                                [](const OpRate& rate) { return rate.bandwidth_pct.value_or(0) > 100; });
    if (beyond > 0)
        table.notes.push_back(
            fmt::format("{} operator{} more data than device memory can deliver; part of it came from caches.", beyond,
                        beyond == 1 ? " moves" : "s move"));
    if (facts.trace().op().input_dims.none_present())
        table.notes.push_back(
            "Operator shapes were not recorded; torch.profiler records them with record_shapes=True.");
    return table;
}

}  // namespace

const Analysis kArithmetic{"arithmetic", "",
                           "Per operator: FLOPs, bytes, and achieved rates relative to the device's peaks.",
                           kArithmeticColumns, arithmetic_table};

}  // namespace gpuprof::tables
