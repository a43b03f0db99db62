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

constexpr ResultColumn kArithmeticColumns[] = {
    {"name", CellType::text, Unit::none, "Operator."},
    {"shapes", CellType::text, Unit::none, "Input shapes."},
    {"types", CellType::text, Unit::none, "Input types."},
    {"count", CellType::integer, Unit::count, "Number of calls that launched kernels."},
    {"device_ns", CellType::integer, Unit::ns, "Total duration of the kernels launched directly by these calls."},
    {"flops", CellType::real, Unit::flop, "Floating-point operations of all calls."},
    {"bytes", CellType::real, Unit::bytes,
     "Modelled bytes of all calls: each input and output counted once; not measured memory traffic."},
    {"flop_per_byte", CellType::real, Unit::flop_per_byte, "Arithmetic intensity."},
    {"flop_per_s", CellType::real, Unit::flop_per_s, "Achieved FLOP/s."},
    {"gb_per_s", CellType::real, Unit::gb_per_s, "Achieved bandwidth, from the modelled bytes."},
    {"compute_pct", CellType::real, Unit::percent,
     "Achieved FLOP/s as a share of the device's dense peak for this arithmetic."},
    {"bandwidth_pct", CellType::real, Unit::percent,
     "Achieved GB/s as a share of the device's memory bandwidth, capped at 100 (see the notes)."},
    {"math", CellType::text, Unit::none, "Math unit and number format, from the kernel name or the operands."},
    {"bound", CellType::text, Unit::none,
     "compute or memory, whichever peak is closer; absent when both are below 25 %."},
};

std::string math_text(MathPath path) {
    if (path.unit == MathUnit::unknown) return std::string(to_string(path.type));
    return std::string(to_string(path.unit)) + " " + std::string(to_string(path.type));
}

Result<ResultTable> arithmetic_table(const Facts& facts) {
    ResultTable table("arithmetic", kArithmeticColumns);
    table.handle_prefix = "ar";
    for (const OpRate& rate : facts.get<OpRates>().rates) {
        auto seconds = static_cast<double>(rate.device_ns) * 1e-9;
        auto per_second = [&](const std::optional<double>& amount, double scale) {
            return amount ? ratio(*amount * scale, seconds) : kAbsent;
        };
        std::string math = math_text(rate.path);
        table.add_row({text_or_absent(facts.trace(), rate.name), text_or_absent(facts.trace(), rate.dims),
                       text_or_absent(facts.trace(), rate.types), integer(rate.count), integer(rate.device_ns),
                       real(rate.flops), real(rate.bytes),
                       rate.flops && rate.bytes ? ratio(*rate.flops, *rate.bytes) : kAbsent, per_second(rate.flops, 1),
                       per_second(rate.bytes, 1e-9), real(rate.compute_pct),
                       rate.bandwidth_pct ? real(std::min(100.0, *rate.bandwidth_pct)) : kAbsent,
                       std::string_view(math), rate.bound ? Cell{name_of(*rate.bound)} : kAbsent});
    }
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
