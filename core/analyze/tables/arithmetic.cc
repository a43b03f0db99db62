// `arithmetic`: what operators computed and moved, how fast, and how near that is to the device's peaks. From recorded shapes
// (record_shapes=True); the basis on which compute- and bandwidth-bound work are told apart. FLOPs count a multiply-add as
// two; bytes are a model: inputs once, outputs once. Of device memory an operator may move more (what does not fit its caches) or
// less (what is in the L2 cache already), so a rate beyond the memory's is shown as 100 % of it, and the notes count those.
#include <fmt/format.h>

#include <algorithm>

#include "core/analyze/facts/op_rates.h"
#include "core/analyze/tables/analysis_list.h"
#include "core/analyze/tables/cells.h"

namespace gpuprof {
namespace {

constexpr ResultColumn kColumns[] = {
    {"name", CellType::text, Unit::none, "Operator."},
    {"shapes", CellType::text, Unit::none, "Input shapes."},
    {"types", CellType::text, Unit::none, "Input types."},
    {"count", CellType::integer, Unit::count, "Calls that launched kernels."},
    {"device_ns", CellType::integer, Unit::ns, "Sum of the durations of the kernels they launched themselves."},
    {"flops", CellType::real, Unit::flop, "Floating point operations of all calls."},
    {"bytes", CellType::real, Unit::bytes,
     "Bytes of inputs and outputs of all calls, each counted once: a model, not what device memory moved."},
    {"flop_per_byte", CellType::real, Unit::flop_per_byte, "Arithmetic intensity."},
    {"flop_per_s", CellType::real, Unit::flop_per_s, "Achieved rate."},
    {"gb_per_s", CellType::real, Unit::gb_per_s, "Achieved rate of those bytes."},
    {"compute_pct", CellType::real, Unit::percent,
     "Achieved FLOP/s of the device's dense peak for the arithmetic used."},
    {"bandwidth_pct", CellType::real, Unit::percent,
     "Achieved GB/s of the device's memory bandwidth; 100 where caches must have helped (see the notes)."},
    {"math", CellType::text, Unit::none,
     "Unit and format of the arithmetic, as the kernel's name or the operands tell."},
    {"bound", CellType::text, Unit::none,
     "compute or memory: the peak it comes nearer to; absent when it reaches 25 % of neither."},
};

Cell text_or_absent(const Trace& trace, StringId id) { return id == kNoString ? kAbsent : Cell{trace.text(id)}; }

std::string math_text(MathPath path) {
    if (path.unit == MathUnit::unknown) return std::string(to_string(path.type));
    return std::string(to_string(path.unit)) + " " + std::string(to_string(path.type));
}

Result<ResultTable> run(const Facts& facts) {
    ResultTable table("arithmetic", kColumns);
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
        table.notes.push_back(fmt::format("{} operator{} more than device memory can give; part of it came from caches",
                                          beyond, beyond == 1 ? " moves" : "s move"));
    if (facts.trace().op().input_dims.none_present())
        table.notes.push_back("operator shapes were not recorded; record with record_shapes=True");
    return table;
}

}  // namespace

const Analysis kArithmetic{"arithmetic", "", "FLOPs, bytes and achieved rates of operators against the device's peaks.",
                           kColumns, run};

}  // namespace gpuprof
