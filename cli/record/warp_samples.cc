#include "cli/record/warp_samples.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "cli/output.h"
#include "cli/record/recording_parts.h"
#include "collect/counters/spooled_samples.h"
#include "collect/launch/injection.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline cli {
namespace {

constexpr const char* kPart = "warp-samples";
constexpr std::int64_t kDefaultPeriod = 14, kMinPeriod = 5, kMaxPeriod = 31;  // powers of two

template <class Number>
bool parse(std::string_view text, Number& number) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

// "16384" or "2^14"; absent if it is no period.
std::optional<std::int64_t> exponent_of(std::string_view text) {
    std::int64_t exponent = 0;
    if (text.starts_with("2^")) {
        if (!parse(text.substr(2), exponent)) return std::nullopt;
    } else {
        std::uint64_t cycles = 0;
        if (!parse(text, cycles) || !std::has_single_bit(cycles)) return std::nullopt;
        exponent = std::countr_zero(cycles);
    }
    return exponent < kMinPeriod || exponent > kMaxPeriod ? std::nullopt : std::optional(exponent);
}

std::string number(std::uint64_t count) { return readable_count(static_cast<std::int64_t>(count)); }

void report_samples(const counters::SampleReport& report, bool sampled) {
    for (const std::string& remark : report.remarks) note(remark);
    if (report.counted > 0)
        note(fmt::format("counters of {} {}, {} with a source line; gpu-profile report FILE source shows the lines",
                         number(report.counted), report.counted == 1 ? "instruction" : "instructions",
                         number(report.counted_with_line)));
    if (!sampled) return;
    if (report.samples == 0) {
        note(
            "no warp was sampled; gpu-profile record works without --stalls, and gpu-profile report FILE kernels needs "
            "no "
            "samples");
        return;
    }
    note(fmt::format(
        "{} warp samples at {} {}, {} % with a source line; gpu-profile report FILE source shows the lines",
        number(report.samples), number(report.instructions), report.instructions == 1 ? "instruction" : "instructions",
        readable_percent(100 * static_cast<double>(report.with_line) / static_cast<double>(report.samples))));
}

}  // namespace

void declare_warp_samples(CommandLine& line, WarpSampleArguments& arguments) {
    line.flag("--stalls", arguments.stalls, "Sample what warps wait for, by instruction and source line.");
    line.option("--stall-period", arguments.period,
                "Cycles between samples of an SM with --stalls, a power of two from 2^5 to 2^31, such as 2^14 or 16384 "
                "(default: 2^14).")
        .value("CYCLES");
}

Status apply_warp_samples(const WarpSampleArguments& arguments, RecorderSettings& recorder) {
    if (!arguments.stalls && !arguments.period.empty())
        return Error{ExitCode::usage, "--stall-period is the period of --stalls; add --stalls"};
    if (!arguments.stalls) return {};
    std::optional<std::int64_t> period =
        arguments.period.empty() ? std::optional(kDefaultPeriod) : exponent_of(arguments.period);
    if (!period)
        return Error{ExitCode::usage,
                     fmt::format("invalid --stall-period '{}'; expected a power of two from 2^5 to 2^31, such as 2^14",
                                 arguments.period)};
    recorder.stall_period = *period;
    return {};
}

bool is_sample_part(const std::string& file) {
    return is_companion_part(file) && file.find(kPart) != std::string::npos;
}

void attribute_samples(const std::string& folder, bool with_trace,
                       const std::vector<counters::TracedProcess>& processes) {
    counters::SpooledSamples spooled;
    for (const std::string& file : parts_in(folder)) {
        if (is_sample_part(file)) return;  // done by an earlier attempt
        if (is_companion_part(file)) continue;
        if (Status read = counters::read_samples(file, spooled); !read) note(read.error().message);
    }
    if (!spooled.any() && spooled.refused.empty()) {
        if (with_trace) note("no warp was sampled: the program did not use CUDA");
        return;
    }
    Result<counters::SampleReport> report = counters::write_samples(
        spooled, {.part = companion_part(folder, kPart), .with_trace = with_trace, .processes = processes});
    if (!report.ok()) return note(report.error().message);
    bool sampled = !spooled.failures.empty() || !spooled.refused.empty();
    for (const counters::SampledProcess& process : spooled.processes) sampled = sampled || !process.devices.empty();
    report_samples(*report, sampled && spooled.counters.empty());
}

}  // namespace gpuprof::cli
