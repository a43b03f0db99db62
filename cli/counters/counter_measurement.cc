#include "cli/counters/counter_measurement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "collect/counters/counter_catalogue.h"
#include "collect/counters/host_link.h"
#include "collect/counters/source_set.h"
#include "core/base/text/pattern.h"
#include "core/format/counter_plan.h"
#include "core/format/range_profiler.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::string_view kNvtx = "nvtx:";

std::uint64_t ns_of(double seconds) { return static_cast<std::uint64_t>(std::llround(seconds * 1e9)); }

// Without counters, what the launch and the trace tell is still there.
Error refused(int code, const std::string& why) {
    return {static_cast<ExitCode>(code),
            fmt::format("cannot measure counters: {}; gpu-profile record works without them", why)};
}

Status check_modes(const MeasurementOptions& options, const counters::PlanReply& reply) {
    if (options.clock != "none" && reply.cupti_version < range::kFirstVersionWithClock)
        return Error{
            ExitCode::usage,
            fmt::format("--clock {} needs CUPTI 13.4 or later; {} is older; set GPUPROF_CUPTI, lock the clocks "
                        "yourself (nvidia-smi --lock-gpu-clocks), or measure with --clock none",
                        options.clock, reply.cupti)};
    if (options.cache == "flush" && reply.cupti_version < range::kFirstVersionWithCache)
        return Error{ExitCode::usage,
                     fmt::format("--cache flush needs CUPTI 13.4 or later; {} is older; set GPUPROF_CUPTI, or measure "
                                 "with --cache warm",
                                 reply.cupti)};
    if (!options.range.empty() && reply.sets.front().passes > 1)
        return Error{ExitCode::usage,
                     fmt::format("ranges are measured in one pass, but {} needs {} on {}; use --set triage, or name "
                                 "fewer metrics",
                                 options.set, reply.sets.front().passes, reply.chip)};
    return {};
}

}  // namespace

Result<Measurement> plan_measurement(const MeasurementOptions& options, const std::string& program) {
    if (Result<std::vector<std::string>> names = counters::wanted_metrics(options.set); !names.ok())
        return names.error();
    if (options.set == counters::kSourceSet && !options.range.empty())
        return Error{ExitCode::usage,
                     "--set source counts the instructions of single launches; omit --range, or use another set"};
    if (!options.kernel.empty())
        if (Result<Pattern> pattern = Pattern::compile(options.kernel); !pattern.ok()) return pattern.error();
    if (!options.range.empty() && (!options.range.starts_with(kNvtx) || options.range.size() == kNvtx.size()))
        return Error{ExitCode::usage, fmt::format("invalid --range '{}'; expected nvtx:NAME", options.range)};
    Result<counters::PlanReply> reply =
        counters::request_plan({.program = program, .chip = {}, .sets = {options.set}, .list_metrics = false});
    if (!reply.ok()) return reply.error();
    if (reply->code != 0) return refused(reply->code, reply->error);
    Measurement measurement{options, std::move(*reply), {}};
    const counters::PlannedSet& set = measurement.set();
    if (!set.error.empty()) return refused(set.code, set.error);
    if (Status modes = check_modes(options, measurement.reply); !modes) return modes.error();
    if (!set.absent.empty())
        measurement.remarks.push_back(
            fmt::format("{} does not have {}", measurement.reply.chip, fmt::join(set.absent, ", ")));
    if (!set.costly.empty())
        measurement.remarks.push_back(fmt::format("{} needs another pass for {}; add them to --set to measure them",
                                                  measurement.reply.chip, fmt::join(set.costly, ", ")));
    if (!set.separate.empty())
        measurement.remarks.push_back(
            fmt::format("counters of links are omitted, because they cannot be measured "
                        "with others; measure them alone: --set {}",
                        fmt::join(set.separate, ",")));
    return measurement;
}

std::string Measurement::encoded(const std::vector<KernelToMeasure>& kernels) const {
    CounterPlan plan;
    std::string range = options.range.substr(options.range.empty() ? 0 : kNvtx.size());
    if (!range.empty()) plan.scope = CounterScope::range;
    if (options.set == counters::kSourceSet) plan.scope = CounterScope::instructions;
    plan.cache = options.cache == "flush" ? CacheMode::flush : CacheMode::warm;
    plan.launches = static_cast<std::uint32_t>(options.launches);
    plan.skip = static_cast<std::uint32_t>(options.skip);
    plan.budget_ns = ns_of(options.budget_s);
    plan.hang_ns = ns_of(options.hang_s);
    plan.passes = static_cast<std::uint32_t>(set().passes);
    plan.chip = reply.chip;
    plan.range = range;
    plan.pattern = options.kernel;
    plan.availability = reply.availability;
    plan.config = set().config;
    for (std::size_t i = 0; i < set().names.size(); ++i) plan.metrics.push_back({set().names[i], set().units[i]});
    for (const KernelToMeasure& kernel : kernels) {
        PlannedKernel planned{.name = kernel.name};
        for (int i = 0; i < 3; ++i) {
            planned.grid[i] = static_cast<std::uint32_t>(kernel.grid[i]);
            planned.block[i] = static_cast<std::uint32_t>(kernel.block[i]);
        }
        planned.typical_ns = static_cast<std::uint64_t>(kernel.typical);
        planned.registers = static_cast<std::uint32_t>(kernel.registers);
        planned.shared_bytes = static_cast<std::uint64_t>(kernel.shared_bytes);
        plan.kernels.push_back(planned);
    }
    plan.device = reply.device;
    plan.clock = locked;
    plan.cupti = reply.cupti;
    plan.cupti_version = reply.cupti_version;
    plan.cc_major = reply.cc_major;
    plan.cc_minor = reply.cc_minor;
    plan.sms = reply.sms;
    return encode(plan);
}

}  // namespace gpuprof::cli
