#include "cli/counters/chosen_kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "core/base/text/function_name.h"
#include "core/base/text/pattern.h"
#include "core/base/text/readable.h"
#include "core/format/counter_plan.h"

namespace gpuprof::inline cli {
namespace {

// Per kernel and pass, with little memory to save: 9 kernels with 49 passes took 5.8 s on an H200.
constexpr DurNs kPassOverhead = 13'000'000;

using Key = std::tuple<StringId, std::array<std::int32_t, 3>, std::array<std::int32_t, 3>>;

std::vector<KernelToMeasure> shapes_of(const Trace& trace) {
    const KernelTable& table = trace.kernel();
    std::map<Key, KernelToMeasure> shapes;
    for (Row row = 0; row < table.rows; ++row) {
        if (!table.name.has(row) || !table.grid_x.has(row)) continue;
        std::array grid{table.grid_x[row], table.grid_y[row], table.grid_z[row]};
        std::array block{table.block_x[row], table.block_y[row], table.block_z[row]};
        KernelToMeasure& shape = shapes[{table.name[row], grid, block}];
        shape.grid = grid;
        shape.block = block;
        shape.total += table.dur[row];
        shape.registers = table.registers.value_or(row, 0);
        shape.shared_bytes = table.shared_bytes.value_or(row, 0);
        ++shape.launches;
    }
    std::vector<KernelToMeasure> kernels;
    for (auto& [key, shape] : shapes) {
        shape.name = trace.text(std::get<0>(key));
        shape.typical = shape.total / shape.launches;
        kernels.push_back(std::move(shape));
    }
    std::stable_sort(kernels.begin(), kernels.end(), [](const KernelToMeasure& a, const KernelToMeasure& b) {
        return std::tie(b.total, a.name, a.grid, a.block) < std::tie(a.total, b.name, b.grid, b.block);
    });
    return kernels;
}

std::int64_t most_memory(const Trace& trace) {
    const SampleTable& samples = trace.tables().sample;
    double most = 0;
    for (Row row = 0; row < samples.rows; ++row)
        if (samples.value.has(row) && trace.text(samples.metric[row]) == "mem.used")
            most = std::max(most, samples.value[row]);
    return static_cast<std::int64_t>(most * kMib);
}

}  // namespace

Result<KernelChoices> choose_kernels(const Trace& trace, const ChoiceLimits& limits) {
    std::optional<Pattern> pattern;
    if (!limits.pattern.empty()) {
        Result<Pattern> compiled = Pattern::compile(limits.pattern);
        if (!compiled.ok()) return compiled.error();
        pattern = std::move(*compiled);
    }
    KernelChoices choices;
    std::set<std::string> collectives;
    for (KernelToMeasure& kernel : shapes_of(trace)) {
        choices.kernel_time += kernel.total;
        if (pattern && !pattern->matches(kernel.name)) continue;
        if (is_device_collective(kernel.name)) {
            collectives.insert(short_name(kernel.name));
            continue;
        }
        auto launches = std::min(limits.launches, std::max<std::int64_t>(kernel.launches - limits.skip, 0));
        kernel.cost = launches * static_cast<DurNs>(limits.passes) * (kernel.typical + kPassOverhead);
        bool room = limits.budget == 0 || choices.cost + kernel.cost <= limits.budget || choices.chosen.empty();
        if (launches == 0 || !room) {
            choices.left_out.push_back(std::move(kernel));
            continue;
        }
        choices.cost += kernel.cost;
        choices.chosen.push_back(std::move(kernel));
    }
    choices.collectives.assign(collectives.begin(), collectives.end());
    choices.memory_bytes = most_memory(trace);
    return choices;
}

namespace {

constexpr std::size_t kShown = 12;

double share(DurNs part, DurNs whole) {
    return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

DurNs total_of(const std::vector<KernelToMeasure>& kernels) {
    DurNs total = 0;
    for (const KernelToMeasure& kernel : kernels) total += kernel.total;
    return total;
}

std::string plural(std::int64_t count, std::string_view one) {
    std::string_view several = one.ends_with("s") || one.ends_with("ch") ? "es" : "s";
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : several);
}

}  // namespace

std::string describe(const KernelChoices& choices, const ChoiceLimits& limits) {
    std::string text;
    auto count = static_cast<std::int64_t>(choices.chosen.size());
    text += fmt::format("measuring {} ({} % of the kernel time), {} of each, {}: about {}{}\n", plural(count, "kernel"),
                        readable_percent(share(total_of(choices.chosen), choices.kernel_time)),
                        plural(limits.launches, "launch"), plural(static_cast<std::int64_t>(limits.passes), "pass"),
                        readable_duration(choices.cost),
                        limits.passes > 1 && choices.memory_bytes > 0
                            ? fmt::format(", and up to {} of device memory saved and restored for each pass",
                                          readable_bytes(static_cast<double>(choices.memory_bytes)))
                            : "");
    for (std::size_t i = 0; i < choices.chosen.size() && i < kShown; ++i) {
        const KernelToMeasure& kernel = choices.chosen[i];
        text += fmt::format("  {:>5} %  {}  grid ({}) block ({})\n",
                            readable_percent(share(kernel.total, choices.kernel_time)), short_name(kernel.name),
                            fmt::join(kernel.grid, ", "), fmt::join(kernel.block, ", "));
    }
    if (choices.chosen.size() > kShown) text += fmt::format("  and {} more\n", choices.chosen.size() - kShown);
    if (!choices.left_out.empty())
        text += fmt::format("left out: {} ({} % of the kernel time) beyond the budget; raise --budget\n",
                            plural(static_cast<std::int64_t>(choices.left_out.size()), "kernel"),
                            readable_percent(share(total_of(choices.left_out), choices.kernel_time)));
    if (!choices.collectives.empty())
        text += fmt::format(
            "left out: {}; these kernels wait for other GPUs and would hang under replay; measure them "
            "with --set triage --range nvtx:NAME\n",
            fmt::join(choices.collectives, ", "));
    return text;
}

}  // namespace gpuprof::cli
