// The summary for people: what was sampled, one line per subject, the sparkline, the interpretation, the notes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "collect/device/summary.h"
#include "core/base/text/readable.h"
#include "core/schema/utilisation.h"

namespace gpuprof::inline device {
namespace {

// Joins the present parts: "a · b · c"; prints nothing if there are none.
class Line {
public:
    template <class... Values>
    Line& add(fmt::format_string<Values&...> format, Values&&... values) {
        text_ += (text_.empty() ? "" : " · ") + fmt::format(format, values...);
        return *this;
    }
    Line& add_if(const std::optional<double>& value, std::string_view format) {
        if (value) text_ += (text_.empty() ? "" : " · ") + fmt::format(fmt::runtime(format), *value);
        return *this;
    }
    void end(std::string& to, std::string_view label) const {
        if (!text_.empty()) to += fmt::format("  {:<8}{}\n", label, text_);
    }

private:
    std::string text_;
};

std::string wrapped(std::string_view text, std::size_t width, std::string_view first, std::string_view next) {
    std::string result(first);
    std::size_t column = first.size();
    std::size_t begin = 0;
    while (begin < text.size()) {
        std::size_t end = std::min(text.find(' ', begin), text.size());
        if (column + 1 + (end - begin) > width && column > first.size()) {
            result += fmt::format("\n{}", next);
            column = next.size();
        } else if (column > first.size()) {
            result += ' ';
            ++column;
        }
        result += text.substr(begin, end - begin);
        column += end - begin;
        begin = end + 1;
    }
    return result + '\n';
}

std::string heading(const GpuSummary& summary) {
    const std::string length = readable_duration(summary.duration_s.value_or(0) * 1e9);
    const std::string during = summary.duration_s.value_or(0) > 0 ? " in " + length : "";
    std::string text = fmt::format("gpu-profile: {}", summary.name.empty() && summary.n_samples == 0
                                                          ? "no GPU was sampled" + during
                                                          : fmt::format("GPU {} {}", summary.device, summary.name));
    if (summary.n_samples > 0) text += ", " + length;
    if (summary.n_samples == 0 && !summary.name.empty()) text += ": no sample" + during;
    if (summary.n_samples > 0 && summary.backend == "replay")  // at the recording's own times
        text += fmt::format(", {} samples (replay)", readable_count(summary.n_samples));
    else if (summary.n_samples > 0)
        text += fmt::format(", {} samples every {} ({})", readable_count(summary.n_samples),
                            readable_duration(summary.interval_s.value_or(0) * 1e9), summary.backend);
    return text + '\n';
}

// "3931 +- 110 J": no more digits than the uncertainty allows.
std::string readable_energy(const GpuSummary& summary) {
    double off = summary.energy_uncertainty_j.value_or(0);
    if (off == 0) return fmt::format("{:.0f} J", *summary.energy_j);
    int decimals = std::clamp(1 - static_cast<int>(std::floor(std::log10(off))), 0, 3);
    return fmt::format("{0:.{2}f} +- {1:.{2}f} J", *summary.energy_j, off, decimals);
}

}  // namespace

std::string_view pattern_of(const GpuSummary& summary) {
    if (!summary.util_gpu_mean || summary.n_samples < 3) return "unknown";
    return pattern_of(Utilisation{static_cast<std::size_t>(summary.n_samples), *summary.util_gpu_mean,
                                  summary.util_gpu_p5.value_or(0), summary.idle_pct.value_or(0),
                                  summary.active_pct.value_or(0), summary.throttle_pct.value_or(0)});
}

std::string advice_for(const GpuSummary& summary) {
    constexpr std::string_view kTrace =
        "record a trace (gpu-profile record, torch.profiler or JAX) and run gpu-profile report TRACE to see where the "
        "time goes";
    std::string_view pattern = pattern_of(summary);
    if (pattern == "steady")
        return "steady: kernels ran nearly all the time; to see whether they are efficient, record a "
               "trace and run gpu-profile report TRACE kernels";
    if (pattern == "bursty")
        return fmt::format("bursty: the GPU alternates between busy and idle ({} % of samples idle); {}",
                           readable_percent(*summary.idle_pct), kTrace);
    if (pattern == "idle")
        return fmt::format("idle: hardly any kernel ran; check that the work runs on this device, then {}", kTrace);
    if (pattern == "starved")
        return fmt::format("starved: kernels run, but the GPU is busy only {} % of the time; {}",
                           readable_percent(*summary.util_gpu_mean), kTrace);
    if (pattern == "throttled") {
        std::string_view cause = summary.throttle_hw_pct.value_or(0) >= 1 ? "hardware" : "power limit";
        if (summary.throttle_thermal_pct.value_or(0) >= 1) cause = "heat";
        return fmt::format(
            "throttled: clocks were reduced in {} % of samples ({}); check power limit and cooling "
            "before comparing runs: nvidia-smi -q -d PERFORMANCE,POWER",
            readable_percent(*summary.throttle_pct), cause);
    }
    return {};
}

std::string to_text(const GpuSummary& summary, int width) {
    std::string text = heading(summary);
    Line()
        .add_if(summary.util_gpu_mean, "mean {:.1f} %")
        .add_if(summary.util_gpu_std, "std {:.1f}")
        .add_if(summary.util_gpu_p50, "median {:.0f}")
        .add_if(summary.util_gpu_p95, "p95 {:.0f}")
        .add_if(summary.util_gpu_max, "max {:.0f}")
        .add_if(summary.idle_pct, "idle {:.0f} % of samples")
        .add_if(summary.active_pct, "active {:.0f} %")
        .end(text, "util");
    if (!summary.sparkline.empty()) text += fmt::format("          {}\n", summary.sparkline);
    Line().add_if(summary.busy_time_est_s, "about {:.2f} s with a kernel running").end(text, "busy");
    Line memory;
    if (summary.mem_used_max_mb) memory.add("max {}", readable_bytes(*summary.mem_used_max_mb * 1024 * 1024));
    if (summary.mem_total_mb) memory.add("of {}", readable_bytes(*summary.mem_total_mb * 1024 * 1024));
    memory.add_if(summary.mem_util_pct, "{:.0f} %").add_if(summary.util_mem_mean, "traffic {:.0f} % of the time");
    memory.end(text, "memory");
    Line power;
    power.add_if(summary.power_mean_w, "mean {:.0f} W").add_if(summary.power_max_w, "max {:.0f} W");
    if (summary.energy_j) power.add("{}", readable_energy(summary));
    power.end(text, "power");
    Line()
        .add_if(summary.sm_clock_mean_mhz, "SM mean {:.0f} MHz")
        .add_if(summary.sm_clock_limit_mhz, "of {:.0f}")
        .add_if(summary.mem_clock_mean_mhz, "memory {:.0f} MHz")
        .add_if(summary.throttle_pct, "throttled in {:.0f} % of samples")
        .end(text, "clocks");
    Line().add_if(summary.temp_mean_c, "mean {:.0f} °C").add_if(summary.temp_max_c, "max {:.0f} °C").end(text, "temp");
    Line()
        .add_if(summary.gpm_sm_active_mean, "SM active {:.0f} %")
        .add_if(summary.gpm_sm_occupancy_mean, "occupancy {:.0f} %")
        .add_if(summary.gpm_tensor_mean, "tensor {:.0f} %")
        .add_if(summary.gpm_dram_mean, "DRAM {:.0f} %")
        .end(text, "GPM");
    auto room = static_cast<std::size_t>(std::max(width, 40));
    if (std::string advice = advice_for(summary); !advice.empty()) text += wrapped(advice, room, "  -> ", "     ");
    for (const std::string& note : summary.notes) text += wrapped(note, room, "  note: ", "        ");
    return text;
}

}  // namespace gpuprof::device
