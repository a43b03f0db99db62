// See the header. This file contains all thresholds.
#include "compare/comparability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/facts/activity.h"
#include "analyze/facts/energy/throttling.h"
#include "analyze/facts/idle/profiler_cost.h"
#include "analyze/facts/steps/sufficiency.h"
#include "core/base/text/readable.h"
#include "core/model/build/damage.h"
#include "core/schema/debug_env.h"
#include "measure/statistics.h"

namespace gpuprof::compare {
namespace {

constexpr double kMaxClockDifference = 3;  // percent between the median clocks
constexpr double kMaxThrottledPct = 5;     // percent of the samples with a reason

// Keys of `meta` for versions of the software below and around the program.
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

// Details whose recording slows the host.
struct Detail {
    std::string_view name;
    bool (*has)(const Tables& tables);
};
constexpr Detail kDetails[] = {
    {"operators", [](const Tables& tables) { return tables.op.rows > 0; }},
    {"Python calls", [](const Tables& tables) { return tables.python_call.rows > 0; }},
    {"operator shapes",
     [](const Tables& tables) {
         for (Row row = 0; row < tables.op.rows; ++row)
             if (tables.op.input_dims.has(row)) return true;
         return false;
     }},
    {"allocations", [](const Tables& tables) { return tables.memory_event.rows > 0; }},
};

std::string details_only_in(const Run& one, const Run& other) {
    std::string names;
    for (const Detail& detail : kDetails)
        if (detail.has(one.trace->tables()) && !detail.has(other.trace->tables()))
            names += fmt::format("{}{}", names.empty() ? "" : ", ", detail.name);
    return names;
}

// "--debug-env sync,nccl", "CUDA_LAUNCH_BLOCKING"; empty without variables for debugging.
std::string debugging_of(const Run& run) {
    if (std::string_view groups = run.trace->meta(debug_env::kGroups); !groups.empty())
        return fmt::format("--debug-env {}", groups);
    return run.trace->meta(debug_env::kLaunchBlocking).empty() ? "" : "CUDA_LAUNCH_BLOCKING";
}

bool other_tool(const Run& base, const Run& next) {
    const Origin &a = base.trace->origin(), &b = next.trace->origin();
    return a.tool != b.tool || (a.tool.empty() && a.importer != b.importer);
}

class ComparabilityChecker {
public:
    ComparabilityChecker(const Run& base, const Run& next) : base_(base), next_(next) {}

    Comparability compare() {
        damage("BASE", base_);
        damage("NEW", next_);
        hardware();
        versions();
        clocks();
        tools();
        details();
        debugging();
        one("BASE", base_);
        one("NEW", next_);
        steps();
        return std::move(found_);
    }

private:
    void warn(Warning which, std::string text) {
        found_.statements.push_back({.warning = true,
                                     .text = std::move(text),
                                     .damage = which == Warning::damaged_input,
                                     .code = kWarnings[static_cast<std::size_t>(which)].name});
    }

    void damage(std::string_view side, const Run& run) {
        if (std::string found = damage_of(*run.trace); !found.empty())
            warn(Warning::damaged_input, fmt::format("{}: {}", side, found));
    }
    void hardware() {
        std::string before = hardware_of(base_), after = hardware_of(next_);
        if (before.empty() || after.empty()) {
            found_.statements.push_back({false, "the hardware is not recorded on both sides"});
        } else if (before != after) {
            found_.same_hardware = false;
            warn(Warning::different_hardware,
                 fmt::format("different hardware: {} in BASE, {} in NEW; differences say nothing about the program",
                             before, after));
        }
    }
    void versions() {
        std::map<std::string, std::string> before = versions_of(*base_.trace), after = versions_of(*next_.trace);
        for (const auto& [key, value] : before)
            if (auto other = after.find(key); other != after.end() && other->second != value)
                warn(Warning::different_versions,
                     fmt::format("different {}: {} in BASE, {} in NEW", key, value, other->second));
    }
    void clocks() {
        std::vector<double> before = samples_of(*base_.trace, "clock.sm"), after = samples_of(*next_.trace, "clock.sm");
        if (before.empty() || after.empty()) {
            found_.statements.push_back({false, "clocks were not sampled on both sides, so throttling is unknown"});
            return;
        }
        double a = measure::statistics_of(before).median, b = measure::statistics_of(after).median;
        if (a > 0 && std::abs(b / a - 1) * 100 > kMaxClockDifference)
            warn(Warning::different_clocks,
                 fmt::format("different SM clocks: {:.0f} MHz in BASE and {:.0f} MHz in NEW (medians)", a, b));
    }
    void tools() {
        const Origin &a = base_.trace->origin(), &b = next_.trace->origin();
        if (other_tool(base_, next_))
            warn(Warning::different_recorders,
                 fmt::format("recorded by tools with different overhead: {} in BASE, {} in NEW",
                             a.tool.empty() ? a.importer : a.tool, b.tool.empty() ? b.importer : b.tool));
    }
    void details() {
        if (other_tool(base_, next_)) return;
        for (const auto& [side, details] :
             {std::pair("BASE", details_only_in(base_, next_)), std::pair("NEW", details_only_in(next_, base_))})
            if (!details.empty())
                warn(Warning::different_details,
                     fmt::format("only {} recorded {}, which slows the host", side, details));
    }
    void debugging() {
        std::string before = debugging_of(base_), after = debugging_of(next_);
        if (before == after) return;
        auto said = [](const std::string& text) { return text.empty() ? "without them" : "with " + text; };
        warn(Warning::different_debugging,
             fmt::format("not comparable: variables for debugging change the timing; BASE was recorded {}, NEW {}",
                         said(before), said(after)));
    }
    void one(std::string_view side, const Run& run) {
        if (work_missing(*run.trace))
            warn(Warning::work_not_recorded,
                 fmt::format("{}: at least {:.0f} % of the device work was not recorded, so its times are unreliable",
                             side, 100 * run.trace->completeness().missing_share()));
        if (double pct = run.facts->get<Throttling>().pct(); pct > kMaxThrottledPct)
            warn(Warning::clocks_throttled,
                 fmt::format("{}: clocks were throttled in {:.0f} % of the samples", side, pct));
        ProfilerCost distortion = run.facts->get<ProfilerCost>();
        std::string explained =
            distortion.explained_ns >= distortion.host_idle ? "all" : readable_duration(distortion.explained_ns);
        if (distortion.host_doubtful)
            warn(Warning::host_slowed,
                 fmt::format("{}: the profiler slowed the host, which may explain {} of the {} that the GPU waited for "
                             "launches and host code",
                             side, explained, readable_duration(distortion.host_idle)));
        if (distortion.overhead_large)
            warn(Warning::profiler_work, fmt::format("{}: the profiler's own work takes {} of the recording", side,
                                                     readable_duration(distortion.overhead_ns)));
        if (run.warm_up > 0)
            found_.statements.push_back(
                {false,
                 fmt::format(
                     "{}: the first {} of {} steps are excluded as warm-up because they took much longer than the rest",
                     side, run.warm_up, run.warm_up + run.steps.steps.size())});
        if (run.backlog_pct)
            warn(Warning::work_after_steps,
                 fmt::format(
                     "{}: {:.0f} % of the device work ran after the step that submitted it, so step times only cover "
                     "submitting work and are not compared; synchronise at the end of each step",
                     side, *run.backlog_pct));
    }
    void steps() {
        const Run& shown = base_.steps_because.empty() ? next_ : base_;
        if (base_.steps.steps.empty() && next_.steps.steps.empty() && shown.steps_because.empty())
            found_.statements.push_back({false, "no steps found on either side; whole recordings are compared"});
        else if (base_.steps.steps.empty() || next_.steps.steps.empty())
            warn(Warning::steps_not_comparable,
                 fmt::format("steps cannot be compared: {}; whole recordings are compared", shown.steps_because));
        else if (!shown.steps_because.empty())
            found_.statements.push_back({false, shown.steps_because});
    }

    const Run &base_, &next_;
    Comparability found_;
};

}  // namespace

std::string recorders_differ(const Run& base, const Run& next) {
    if (other_tool(base, next)) return "the recordings come from different tools";
    if (debugging_of(base) != debugging_of(next)) return "they were recorded with different variables for debugging";
    if (std::string names = details_only_in(next, base); !names.empty())
        return fmt::format("only NEW recorded {}", names);
    if (std::string names = details_only_in(base, next); !names.empty())
        return fmt::format("only BASE recorded {}", names);
    return "";
}

double recorder_cost(const Run& run, const Run& other) {
    ProfilerCost distortion = run.facts->get<ProfilerCost>();
    // The cost of torch.profiler is known only as a lower bound. Against another tool, all waiting for the host may be
    // its cost.
    DurNs host = distortion.records > 0 && other_tool(run, other) ? distortion.host_idle : distortion.explained_ns;
    return static_cast<double>(host + distortion.idle_in_overhead) / static_cast<double>(run.devices() * run.parts());
}

std::string hardware_of(const Run& run) {
    const DeviceTable& known = run.trace->tables().device;
    std::map<std::string, int> devices;
    for (const DeviceActivity& active : run.facts->get<Activity>().devices)
        for (Row row = 0; row < known.rows; ++row) {
            if (known.device[row] != active.device || !known.name.has(row)) continue;
            std::string text(run.trace->text(known.name[row]));
            if (known.sms.has(row)) text += fmt::format(", {} SMs", known.sms[row]);
            if (known.memory_bytes.has(row))
                text += fmt::format(", {}", readable_bytes(static_cast<double>(known.memory_bytes[row])));
            ++devices[text];
        }
    std::string all;
    for (const auto& [text, count] : devices)
        all += fmt::format("{}{}{}", all.empty() ? "" : "; ", count > 1 ? fmt::format("{} x ", count) : "", text);
    return all;
}

Comparability comparability_of(const Run& base, const Run& next) { return ComparabilityChecker(base, next).compare(); }

}  // namespace gpuprof::compare
