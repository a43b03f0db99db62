#include "present/answer/trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "analyze/facts/activity.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/idle/gpu_turns.h"
#include "analyze/facts/idle/profiler_cost.h"
#include "analyze/facts/kernels/op_rates.h"
#include "analyze/facts/shares.h"
#include "analyze/facts/steps/phases.h"
#include "analyze/facts/validity.h"
#include "core/base/text/readable.h"
#include "core/model/build/damage.h"
#include "core/model/build/kept_steps.h"
#include "core/model/meta_values.h"
#include "core/schema/debug_env.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline answer {
namespace {

// "NVIDIA H200", "2 x NVIDIA A100", or how many devices have work when the trace does not name them.
std::string devices_with_work(const Facts& facts) {
    const DeviceTable& known = facts.trace().tables().device;
    std::size_t devices = facts.get<Activity>().devices.size();
    StringId name = kNoString;
    for (const DeviceActivity& active : facts.get<Activity>().devices)
        for (Row row = 0; row < known.rows; ++row)
            if (known.device[row] == active.device && !facts.trace().text(known.name.value_or(row, kNoString)).empty())
                name = known.name[row];
    std::string_view text = facts.trace().text(name);
    if (name == kNoString && devices > 0)
        if (auto peaks = peaks_of(facts.trace(), facts.get<Activity>().devices.front().device)) text = peaks->device;
    if (text.empty()) return readable_count(devices, "GPU");
    return devices == 1 ? std::string(text) : fmt::format("{} x {}", devices, text);
}

std::string what_window(const Trace& trace) {
    auto length = [](DurNs ns) { return readable_duration(ns); };
    if (!trace.is_part()) return fmt::format("{} window", length(trace.window().length()));
    return fmt::format("{} window starting at {} of {} (--whole: everything)", length(trace.window().length()),
                       length(trace.window().start - trace.zero()), length(trace.full_window().length()));
}

// What else is in the recording, and what it costs.
void add_phases(const Facts& facts, Trust& trust) {
    const Interval window = facts.trace().window();
    std::string judged, others;
    for (const Phase& phase : facts.get<Phases>().all) {
        std::string& text = phase.span.start < window.end && phase.span.end > window.start ? judged : others;
        text += fmt::format("{}{} {} ({} % of the recording, GPU {} % busy)", text.empty() ? "" : ", ", phase.name,
                            readable_duration(phase.span.length()),
                            readable_percent(100 * static_cast<double>(phase.span.length()) /
                                             static_cast<double>(facts.trace().full_window().length())),
                            readable_percent(phase.busy_pct));
    }
    if (others.empty() && judged.empty()) return;
    trust.statements.push_back({false, others.empty() ? "phases: " + judged : "not in this window: " + others});
}

std::string_view tool_of(const Trace& trace) {
    return trace.origin().tool.empty() ? std::string_view("unknown recorder") : std::string_view(trace.origin().tool);
}

std::string what_was_recorded(const Facts& facts) {
    const Trace& trace = facts.trace();
    std::string text =
        fmt::format("{}, {}, {}: {}, {}, {}", tool_of(trace), what_window(trace), devices_with_work(facts),
                    readable_count(trace.kernel().rows, "kernel"), readable_count(trace.memcpy().rows, "memcpy"),
                    readable_count(trace.memset().rows, "memset"));
    if (trace.op().rows > 0) text += fmt::format(", {}", readable_count(trace.op().rows, "operator"));
    return text;
}

// Notices about what the numbers do not cover; the others are only in the `loss` table.
bool worth_saying(const LossSpec& notice, const Completeness& complete) {
    return notice.is(loss_trait::said) && (notice.kind != Loss::unmatched_launch || complete.ops_before_calls > 0);
}

// One sentence per kind of loss that touches data or values, and per notice.
struct Losses {
    std::vector<Trust::Statement> lost, notices;
};

Losses losses_of(const Trace& trace) {
    Losses found;
    const LossTable& losses = trace.tables().loss;
    for (Row row = 0; row < losses.rows; ++row) {
        const LossSpec* spec = spec_named(trace.text(losses.kind.value_or(row, kNoString)));
        if (spec == nullptr || spec->is(loss_trait::damage)) continue;
        bool notice = spec->severity == Severity::notice;
        if (notice && !worth_saying(*spec, trace.completeness())) continue;
        std::string_view place = trace.text(losses.place.value_or(row, kNoString));
        std::string count = readable_count(losses.count[row]);
        bool counted = losses.count[row] == 1 || place.starts_with(count + " ");  // "3 of 20 calls"
        std::string text = fmt::format("{} ({}{})", spec->doc, counted ? "" : count + " times; ", place);
        if (!notice) text += fmt::format("; {}", spec->remedy);
        (notice ? found.notices : found.lost).push_back({spec->severity == Severity::data, std::move(text)});
    }
    return found;
}

void add(std::vector<Trust::Statement> more, Trust& trust) {
    trust.statements.insert(trust.statements.end(), more.begin(), more.end());
}

// "No records lost" is stated only if that was checked, and the device was not idle with work to do (`idle_with_work`, "": no).
void add_losses(const Trace& trace, const std::string& idle_with_work, Trust& trust) {
    Losses losses = losses_of(trace);
    bool lost = !losses.lost.empty() || !damage_of(trace).empty();
    add(std::move(losses.lost), trust);
    std::string unknown = trace.completeness().unknown_because();
    if (!unknown.empty()) trust.statements.push_back({false, "completeness unknown: " + unknown});
    if (!idle_with_work.empty())
        trust.statements.push_back(
            {true, "the GPU ran nothing that was recorded while it had work to do: " + idle_with_work});
    if (unknown.empty() && !lost && idle_with_work.empty()) trust.statements.push_back({false, "no records lost"});
    add(std::move(losses.notices), trust);
}

std::string idle_with_work(const Facts& facts) {
    for (const RecordingCheck& check : facts.get<Validity>().checks)
        if (check.name == kIdleForAReason && check.result == CheckResult::violated) return check.example;
    return "";
}

void add_damage(const Trace& trace, Trust& trust) {
    if (std::string damage = damage_of(trace); !damage.empty())
        trust.statements.push_back({.warning = true, .text = damage, .damage = true});
}

// What the recorder itself caused, at least and at most: the same figures as in the idle time by cause and in the finding.
void add_distortion(const Facts& facts, Trust& trust) {
    const ProfilerCost& distortion = facts.get<ProfilerCost>();
    DurNs least = distortion.idle_in_overhead, most = least + facts.get<Shares>().host_idle_doubtful;
    if (least > 0)
        trust.statements.push_back(
            {distortion.overhead_large,
             fmt::format("the profiler itself caused {}{} of idle time", readable_duration(least),
                         readable_duration(most) == readable_duration(least) ? "" : " to " + readable_duration(most))});
    if (distortion.host_doubtful)
        trust.statements.push_back(
            {true,
             fmt::format(
                 "the profiler slowed down the host: writing {} host records cost at least {}, which may explain {} of "
                 "the {} that the GPU waited for launches and host code",
                 readable_count(static_cast<std::int64_t>(distortion.records)),
                 readable_duration(distortion.estimated_ns),
                 distortion.explained_ns >= distortion.host_idle ? "all" : readable_duration(distortion.explained_ns),
                 readable_duration(distortion.host_idle))});
}

// What the recorder reports about itself, summed over processes.
struct RecorderFacts {
    std::int64_t on_program_threads = 0, on_own_thread = 0, given = 0, subscriptions = 0;
    bool known = false, yielded = false;
    std::string_view first_subscriber, kept_out;
    std::vector<std::string_view> clocks;
    std::vector<std::string_view> no_stream_calls;  // why, each reason once
};
RecorderFacts recorder_facts(const Trace& trace) {
    RecorderFacts said;
    const MetaTable& meta = trace.tables().meta;
    for (Row row = 0; row < meta.rows; ++row) {
        std::string_view key = trace.text(meta.key[row]), value = trace.text(meta.value[row]);
        auto number = [&] {
            std::int64_t parsed = 0;
            std::from_chars(value.data(), value.data() + value.size(), parsed);
            return std::clamp<std::int64_t>(parsed, 0, std::int64_t{1} << 60);
        };
        if (key == meta_key::kOnProgramThreads) {
            said.known = true;
            said.on_program_threads += number();
        }
        if (key == meta_key::kOnOwnThread) said.on_own_thread += number();
        if (key == meta_key::kGivenToOther) said.given += number();
        if (key == meta_key::kOtherSubscriptions) said.subscriptions += number();
        if (key == meta_key::kFirstSubscriber) said.first_subscriber = value;
        if (key == meta_key::kKeptOut) said.kept_out = value;
        if (key == meta_key::kYielded) said.yielded = true;
        if (key == meta_key::kStreamCalls && value != meta_key::kStreamCallsRecorded &&
            std::find(said.no_stream_calls.begin(), said.no_stream_calls.end(), value) == said.no_stream_calls.end())
            said.no_stream_calls.push_back(value);
        if (key == meta_key::kDeviceClock && value.find(meta_key::kClockMoved) != std::string_view::npos)
            said.clocks.push_back(value);
    }
    return said;
}

void add_recorder(const Trace& trace, Trust& trust) {
    for (std::string_view named : meta_values(trace, meta_key::kNamedGraphOps))
        trust.statements.push_back({named.find(": ") != std::string_view::npos, std::string(named)});
    RecorderFacts said = recorder_facts(trace);
    if (said.known)
        trust.statements.push_back(
            {false,
             fmt::format("recording took {} of CPU time on the program's threads and {} on the recorder's thread",
                         readable_duration(said.on_program_threads), readable_duration(said.on_own_thread))});
    if (said.given > 0)
        trust.statements.push_back(
            {false, fmt::format("CUPTI was shared with another client, which received {} records",
                                readable_count(said.given))});
    if (said.subscriptions > 0)
        trust.statements.push_back({false, "another client of CUPTI recorded with a subscription of its own"});
    if (!said.first_subscriber.empty())
        trust.statements.push_back(
            {false, fmt::format("{} subscribed to CUPTI before the recorder; both record", said.first_subscriber)});
    if (!said.kept_out.empty())
        trust.statements.push_back(
            {true, fmt::format("{} cannot profile in this process, because it looks CUPTI up itself; "
                               "unset TRITON_CUPTI_LIB_PATH to share it",
                               said.kept_out)});
    if (said.yielded)
        trust.statements.push_back({true,
                                    "another client of CUPTI took over the recording of device work when it started "
                                    "(--cupti share records both)"});
    for (std::string_view why : said.no_stream_calls)
        trust.statements.push_back(
            {false, fmt::format("streams and events of calls that wait were not recorded: {}", why)});
    for (std::string_view clock : said.clocks) trust.statements.push_back({false, fmt::format("clock of {}", clock)});
}

// Variables for debugging that slowed the program down.
void add_debug_env(const Trace& trace, Trust& trust) {
    std::string_view groups = trace.meta(debug_env::kGroups);
    if (!trace.meta(debug_env::kLaunchBlocking).empty())
        trust.statements.push_back(
            {true,
             "timing is not representative: CUDA_LAUNCH_BLOCKING was set, so every launch waited "
             "for its kernel; record without it to measure"});
    if (debug_env::wants_logs(groups))
        trust.statements.push_back(
            {false,
             fmt::format("libraries wrote logs during the recording, which slows the host (--debug-env {})", groups)});
}

// Steps that were chosen while recording, and the gaps between them.
void add_kept_steps(const Trace& trace, Trust& trust) {
    std::vector<std::string_view> said = meta_values(trace, meta_key::kSlowSteps);
    for (std::string_view sentence : said) trust.statements.push_back({false, std::string(sentence)});
    bool any = !said.empty() || !trace.meta(meta_key::kNoSteps).empty();
    if (any && trace.range().rows == 0 && trace.kernel().rows == 0 && trace.api_call().rows == 0)
        trust.statements.push_back({true, "no step was kept, so the program's work is not in this recording"});
    if (any && !trace.is_part() && kept_steps(trace).size() > 1)
        trust.statements.push_back(
            {true,
             "only these steps were kept: analyses of the whole recording count the time between them as idle; "
             "select one step with --from and --to"});
}

// Ranks read as one recording are not compared with each other.
void add_ranks(const Trace& trace, Trust& trust) {
    if (std::size_t ranks = ranks_added_up(trace); ranks > 1)
        trust.statements.push_back(
            {false, fmt::format("{} ranks, added up; gpu-profile ranks FOLDER compares them", ranks)});
}

// Names of the metrics that were sampled, each once.
std::vector<std::string_view> sampled_metrics(const Trace& trace) {
    const SampleTable& samples = trace.tables().sample;
    std::vector<std::string_view> names;
    std::vector<StringId> seen;  // a few dozen at most, and mostly one after the other
    std::size_t next = 0;
    for (Row row = 0; row < samples.rows; ++row) {
        StringId metric = samples.metric[row];
        if (next < seen.size() && seen[next] == metric) {
            next = (next + 1) % seen.size();
            continue;
        }
        auto found = std::find(seen.begin(), seen.end(), metric);
        next = static_cast<std::size_t>(found - seen.begin()) + 1;
        if (found != seen.end()) continue;
        seen.push_back(metric);
        names.push_back(trace.text(metric));
    }
    return names;
}

bool any_begins(const std::vector<std::string_view>& names, std::string_view prefix) {
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return name.substr(0, prefix.size()) == prefix; });
}

// The times of the program's work include the turns of other programs.
void add_turns(const Facts& facts, Trust& trust) {
    constexpr double kWorthSayingPct = 1;
    const GpuTurns& turns = facts.get<GpuTurns>();
    if (turns.recorded == 0) return;
    double pct = 100 * static_cast<double>(turns.of_others) / static_cast<double>(turns.recorded);
    if (pct < kWorthSayingPct) return;
    trust.statements.push_back(
        {turns.in_kernels > 0,
         fmt::format("other processes had the GPU for {} ({} % of the recorded turns); {} of it counts as time of this "
                     "program's kernels",
                     readable_duration(turns.of_others), readable_percent(pct), readable_duration(turns.in_kernels))});
}

void add_missing(const Trace& trace, Trust& trust) {
    std::vector<std::string_view> missing;
    if (trace.api_call().rows == 0) missing.push_back("CUDA calls");
    if (trace.op().rows == 0) missing.push_back("framework operators");
    if (trace.op().rows > 0 && trace.op().input_dims.none_present()) missing.push_back("operator shapes");
    std::vector<std::string_view> metrics = sampled_metrics(trace);
    if (!any_begins(metrics, "pm.") && trace.tables().profiled_kernel.rows == 0) missing.push_back("hardware counters");
    if (!any_begins(metrics, "clock.")) missing.push_back("clocks");
    if (missing.empty()) return;
    std::string text = "not recorded: ";
    for (std::size_t i = 0; i < missing.size(); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", missing[i]);
    trust.statements.push_back({trace.api_call().rows == 0 && trace.kernel().rows > 0, text});
}

}  // namespace

std::uint64_t count_of(const Trace& trace, Loss kind) {
    const LossTable& losses = trace.tables().loss;
    std::uint64_t count = 0;
    for (Row row = 0; row < losses.rows; ++row)
        if (trace.text(losses.kind.value_or(row, kNoString)) == spec_of(kind).name)
            count += static_cast<std::uint64_t>(losses.count[row]);
    return count;
}

Trust trust_without_timeline(const Trace& trace) {
    Trust trust;
    add_damage(trace, trust);
    std::string held;
    trace.tables().each_table([&](const TableSpec& spec, const auto& table) {
        constexpr std::string_view kAbout[] = {"process", "thread", "device", "loss", "meta", "clock"};
        if (table.rows == 0 || std::find(std::begin(kAbout), std::end(kAbout), spec.name) != std::end(kAbout)) return;
        std::string name(spec.name);
        std::replace(name.begin(), name.end(), '_', ' ');
        if (name.ends_with("advice")) name = "remark";  // no plural
        held += fmt::format("{}{}", held.empty() ? "" : ", ", readable_count(table.rows, name));
    });
    trust.statements.push_back({false, fmt::format("{}: {}; no timeline", tool_of(trace), held)});
    add(losses_of(trace).lost, trust);
    add_debug_env(trace, trust);
    return trust;
}

std::size_t ranks_added_up(const Trace& trace) {
    const ProcessTable& processes = trace.tables().process;
    std::set<std::int64_t> ranks;
    for (Row row = 0; row < processes.rows; ++row)
        if (processes.rank.has(row)) ranks.insert(processes.rank[row]);
    return ranks.size();
}

Trust trust_of(const Facts& facts, bool about_idle) {
    Trust trust;
    add_damage(facts.trace(), trust);
    trust.statements.push_back({false, what_was_recorded(facts)});
    if (about_idle) add_phases(facts, trust);
    add_losses(facts.trace(), about_idle ? idle_with_work(facts) : "", trust);
    if (about_idle) add_distortion(facts, trust);
    add_turns(facts, trust);
    add_debug_env(facts.trace(), trust);
    add_recorder(facts.trace(), trust);
    add_kept_steps(facts.trace(), trust);
    add_ranks(facts.trace(), trust);
    add_missing(facts.trace(), trust);
    return trust;
}

}  // namespace gpuprof::answer
