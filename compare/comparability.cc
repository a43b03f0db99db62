// See the header. Thresholds stand here and nowhere else.
#include "compare/comparability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/analyze/facts/activity.h"
#include "core/analyze/facts/completeness.h"
#include "core/analyze/facts/profiler_cost.h"
#include "core/base/readable.h"
#include "core/model/damage.h"
#include "measure/statistics.h"

namespace gpuprof::compare {
namespace {

constexpr double kClocksApart = 3;    // percent between the median clocks
constexpr double kThrottledPart = 5;  // percent of the samples with a reason
// Bits of the driver's reasons that say that nothing is wrong: idle, and clocks that were set (nvml.h).
constexpr std::int64_t kHarmless = 0x1 | 0x2;

// Keys of `meta` that name versions of what is below and around the program.
std::map<std::string, std::string> versions_of(const Trace& trace) {
    std::map<std::string, std::string> versions;
    const MetaTable& meta = trace.tables().meta;
    for (Row row = 0; row < meta.rows; ++row) {
        std::string key(trace.text(meta.key[row]));
        if (key.ends_with("_version")) versions.try_emplace(key, trace.text(meta.value[row]));
    }
    return versions;
}

std::vector<double> samples_of(const Trace& trace, std::string_view metric) {
    std::vector<double> values;
    const SampleTable& samples = trace.tables().sample;
    for (Row row = 0; row < samples.rows; ++row)
        if (samples.metric.has(row) && trace.text(samples.metric[row]) == metric) values.push_back(samples.value[row]);
    return values;
}

double throttled_pct(const Trace& trace) {
    std::vector<double> reasons = samples_of(trace, "throttle.reasons");
    auto throttled = std::count_if(reasons.begin(), reasons.end(),
                                   [](double value) { return (static_cast<std::int64_t>(value) & ~kHarmless) != 0; });
    return reasons.empty() ? 0 : 100 * static_cast<double>(throttled) / static_cast<double>(reasons.size());
}

class Comparer {
public:
    Comparer(const Run& base, const Run& next) : base_(base), next_(next) {}

    Comparability compare() {
        damage("BASE", base_);
        damage("NEW", next_);
        hardware();
        versions();
        clocks();
        tools();
        one("BASE", base_);
        one("NEW", next_);
        steps();
        return std::move(found_);
    }

private:
    void warn(std::string text) { found_.statements.push_back({true, std::move(text)}); }

    void damage(std::string_view side, const Run& run) {
        if (std::string found = damage_of(*run.trace); !found.empty())
            found_.statements.push_back({.warning = true, .text = fmt::format("{}: {}", side, found), .damage = true});
    }
    void hardware() {
        std::string before = hardware_of(base_), after = hardware_of(next_);
        if (before.empty() || after.empty()) {
            found_.statements.push_back({false, "the hardware of a side is not recorded"});
        } else if (before != after) {
            found_.same_hardware = false;
            warn(fmt::format("different hardware: {} in BASE, {} in NEW; what differs says nothing about the program",
                             before, after));
        }
    }
    void versions() {
        std::map<std::string, std::string> before = versions_of(*base_.trace), after = versions_of(*next_.trace);
        for (const auto& [key, value] : before)
            if (auto other = after.find(key); other != after.end() && other->second != value)
                warn(fmt::format("different {}: {} in BASE, {} in NEW", key, value, other->second));
    }
    void clocks() {
        std::vector<double> before = samples_of(*base_.trace, "clock.sm"), after = samples_of(*next_.trace, "clock.sm");
        if (before.empty() || after.empty()) {
            found_.statements.push_back({false, "clocks were not sampled on both sides, so throttling would not show"});
            return;
        }
        double a = measure::statistics_of(before).median, b = measure::statistics_of(after).median;
        if (a > 0 && std::abs(b / a - 1) * 100 > kClocksApart)
            warn(
                fmt::format("different clocks: the multiprocessors ran at {:.0f} MHz in BASE and {:.0f} MHz in NEW "
                            "(medians)",
                            a, b));
    }
    void tools() {
        const Origin &a = base_.trace->origin(), &b = next_.trace->origin();
        if (a.tool != b.tool || (a.tool.empty() && a.importer != b.importer))
            warn(fmt::format("recorded by different tools, which cost differently: {} in BASE, {} in NEW",
                             a.tool.empty() ? a.importer : a.tool, b.tool.empty() ? b.importer : b.tool));
    }
    void one(std::string_view side, const Run& run) {
        if (much_missing(*run.trace))
            warn(fmt::format("{}: at least {:.0f} % of the device work was not recorded, so its times say little", side,
                             100 * run.trace->completeness().missing_share()));
        if (double pct = throttled_pct(*run.trace); pct > kThrottledPart)
            warn(fmt::format("{}: clocks were held down in {:.0f} % of the samples", side, pct));
        ProfilerCost distortion = run.facts->get<ProfilerCost>();
        if (distortion.host_doubtful)
            warn(
                fmt::format("{}: the profiler slowed the host, and can explain {} of the {} of waiting for launches "
                            "and host code",
                            side, readable_duration(static_cast<double>(distortion.explained_ns)),
                            readable_duration(static_cast<double>(distortion.host_idle))));
        if (distortion.overhead_large)
            warn(fmt::format("{}: the profiler's own work is {} of the recording", side,
                             readable_duration(static_cast<double>(distortion.overhead_ns))));
        if (run.backlog_pct)
            warn(fmt::format(
                "{}: {:.0f} % of the device's work was done after the last step, so the lengths of its steps are "
                "those of submitting work and are not compared; a synchronisation at the end of steps would help",
                side, *run.backlog_pct));
    }
    void steps() {
        std::size_t before = base_.steps.steps.size(), after = next_.steps.steps.size();
        if (before > 0 && after > 0) return;
        if (before > 0 || after > 0)
            warn(fmt::format("{} has steps, {} has none ({}): totals cannot be compared per step",
                             before > 0 ? "BASE" : "NEW", before > 0 ? "NEW" : "BASE",
                             before > 0 ? next_.steps.note : base_.steps.note));
        else
            found_.statements.push_back({false, "no steps on either side: whole recordings are compared"});
    }

    const Run &base_, &next_;
    Comparability found_;
};

}  // namespace

std::string hardware_of(const Run& run) {
    const DeviceTable& known = run.trace->tables().device;
    std::map<std::string, int> devices;
    for (const DeviceActivity& active : run.facts->get<Activity>().devices)
        for (Row row = 0; row < known.rows; ++row) {
            if (known.device[row] != active.device || !known.name.has(row)) continue;
            std::string text(run.trace->text(known.name[row]));
            if (known.sms.has(row)) text += fmt::format(", {} multiprocessors", known.sms[row]);
            if (known.memory_bytes.has(row))
                text += fmt::format(", {}", readable_bytes(static_cast<double>(known.memory_bytes[row])));
            ++devices[text];
        }
    std::string all;
    for (const auto& [text, count] : devices)
        all += fmt::format("{}{}{}", all.empty() ? "" : "; ", count > 1 ? fmt::format("{} x ", count) : "", text);
    return all;
}

Comparability comparability_of(const Run& base, const Run& next) { return Comparer(base, next).compare(); }

}  // namespace gpuprof::compare
