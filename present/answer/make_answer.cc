#include "present/answer/make_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/facts/activity.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/host/peer_waits.h"
#include "analyze/facts/memory/managed_migrations.h"
#include "analyze/facts/steps/sufficiency.h"
#include "analyze/kernels/kernel_diagnosis.h"
#include "analyze/replay/gain.h"
#include "core/base/result.h"
#include "core/base/text/function_name.h"
#include "core/base/text/readable.h"
#include "core/model/answer.h"
#include "core/model/build/damage.h"
#include "present/answer/analyses.h"
#include "present/answer/diagnosis.h"
#include "present/answer/job_verdict.h"
#include "present/answer/kernel_answer.h"
#include "present/answer/trust.h"
#include "ranks/hangs/hang_text.h"
#include "ranks/hangs/hangs.h"
#include "ranks/reduce/call_text.h"

namespace gpuprof::inline answer {
namespace {

// The first answer to a file without a timeline: counters of kernels, samples of a device, an allocator's records, or a
// call tree. Each says what it shows, and what to record for the rest.

// The verdict about dumps of flight recorders, of a job or of one rank: what hangs, and who is missing.

void say(Trust& trust, bool warning, std::string text) { trust.statements.push_back({warning, std::move(text)}); }

Verdict hang_verdict(const Facts& facts) {
    const Hangs& hangs = facts.get<Hangs>();
    Verdict verdict;
    verdict.conclude(Limit::unknown);
    verdict.because = hang_sentence(hangs);
    verdict.name = "no open collective";
    if (hangs.rows.empty()) return verdict;
    const Hang& first = hangs.rows.front();
    verdict.name = first.cause == HangCause::cycle ? "deadlock" : "hang";
    std::size_t same_rank = 0, others = 0;
    for (std::size_t i = 1; i < hangs.rows.size(); ++i) {
        const Hang& hang = hangs.rows[i];
        if (!hang.root || (first.cause == HangCause::cycle && hang.cause == HangCause::cycle)) continue;
        bool same =
            first.cause == HangCause::missing && hang.cause == HangCause::missing && hang.culprits == first.culprits;
        ++(same ? same_rank : others);
    }
    if (first.dependents > 0 && first.cause != HangCause::cycle)
        verdict.because += fmt::format("; {} wait{} for this one", readable_count(first.dependents, "other collective"),
                                       first.dependents == 1 ? "s" : "");
    if (same_rank > 0)
        verdict.because += fmt::format(
            "; {} for the same rank{}",
            same_rank == 1 ? "another collective waits" : fmt::format("{} other collectives wait", same_rank),
            first.culprits.size() == 1 ? "" : "s");
    if (others > 0)
        verdict.because +=
            fmt::format("; {} for another reason (see the table hangs)",
                        others == 1 ? "another collective hangs" : fmt::format("{} other collectives hang", others));
    return verdict;
}

// How many dumps there are, ranks without one, and buffers that were too small to hold what hangs.
Trust hang_trust(const Facts& facts) {
    Trust trust;
    if (std::string damage = damage_of(facts.trace()); !damage.empty())
        trust.statements.push_back({.warning = true, .text = damage, .damage = true});
    const RankCalls& calls = facts.get<Hangs>().calls;
    RankList with, without;
    std::int64_t lost = 0;
    for (const auto& [rank, about] : calls.ranks) {
        (about.dump ? with : without).push_back(rank);
        lost = std::max(lost, about.lost);
    }
    say(trust, false,
        fmt::format("{} of {}, {}", readable_count(with.size(), "flight recorder dump"),
                    with.size() == 1 ? ranks_text(with) : readable_count(with.size(), "rank"),
                    readable_count(calls.groups.size(), "group")));
    if (!without.empty())
        say(trust, true,
            fmt::format("no dump of {} (see the table ranks); nothing is concluded about {}", ranks_text(without),
                        without.size() == 1 ? "it" : "them"));
    if (lost > 0)
        say(trust, false,
            fmt::format("up to {} earlier collectives of a rank had left its recorder's buffer", readable_count(lost)));
    return trust;
}

// Time of measured launches by what limits them.
struct Measured {
    double compute = 0, memory = 0, latency = 0, unknown = 0;
    double all() const { return compute + memory + latency + unknown; }
    double& of(KernelLimit limit) {
        switch (limit) {
            case KernelLimit::unknown: return unknown;
            case KernelLimit::latency: return latency;
            case KernelLimit::compute: return compute;
            default: return memory;
        }
    }
};

Measured measured_of(const Facts& facts) {
    Measured found;
    const std::vector<MeasuredGroup>& groups = facts.get<MeasuredKernels>().groups;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        double time = std::max(groups[i].total_ns, 1.0);
        const KernelProfile& profile = facts.get<KernelProfiles>().profiles[i];
        found.of(profile.limit) += time;
    }
    return found;
}

// Judged by counters, the best evidence: profiled launches, weighted by their time.
Verdict by_counters(const Facts& facts) {
    Measured found = measured_of(facts);
    Verdict verdict;
    double most = std::max({found.compute, found.memory, found.latency, found.unknown}),
           all = std::max(1.0, found.all());
    auto pct = [&](double part) { return 100 * part / all; };
    std::size_t launches = facts.get<MeasuredKernels>().launches.size();
    verdict.because = fmt::format(
        "of the time of {} profiled launch{}, {:.0f} % is in kernels limited by memory or caches, {:.0f} % by compute, "
        "{:.0f} % in kernels that wait with no part of the GPU near its peak",
        launches, launches == 1 ? "" : "es", pct(found.memory), pct(found.compute), pct(found.latency));
    if (found.unknown > 0) verdict.because += fmt::format(", {:.0f} % has too few counters", pct(found.unknown));
    if (most == found.unknown) {
        verdict.conclude(Limit::unknown);
        verdict.because = "throughput was not collected (gpu-profile counters or ncu --set basic collects it)";
        return verdict;
    }
    bool clear = 2 * most > all;
    Limit limit = Limit::unknown;
    if (most == found.compute) limit = Limit::compute;
    if (most == found.memory) limit = Limit::memory_bandwidth;
    verdict.conclude(clear ? limit : Limit::mixed);
    if (verdict.limit == Limit::unknown)
        verdict.because += "; the findings say what they wait for";
    else {
        verdict.basis = Basis::counters;
        verdict.confidence = clear ? Rating::high : Rating::medium;
    }
    return verdict;
}

// Samples show whether a device was busy, but not why.
Verdict by_samples(const Facts& facts) {
    const SampleTable& samples = facts.trace().tables().sample;
    StringId utilisation = facts.trace().strings().find("util.gpu");
    std::map<std::int32_t, std::pair<double, std::size_t>> busy;  // by device: sum of percent, samples
    for (Row row = 0; row < samples.rows; ++row) {
        if (utilisation == kNoString || samples.metric.value_or(row, kNoString) != utilisation ||
            !samples.value.has(row))
            continue;
        auto& [sum, count] = busy[samples.device.value_or(row, -1)];
        sum += samples.value[row];
        ++count;
    }
    Verdict verdict;
    verdict.conclude(Limit::unknown);
    std::string devices;
    for (const auto& [device, found] : busy)
        devices += fmt::format("{}GPU {} was busy {:.0f} % of the time ({} sample{})", devices.empty() ? "" : ", ",
                               device, found.first / static_cast<double>(found.second),
                               readable_count(static_cast<std::int64_t>(found.second)), found.second == 1 ? "" : "s");
    verdict.because =
        (devices.empty() ? "the samples do not contain utilisation" : devices) +
        "; samples do not show what the GPU ran or waited for (gpu-profile record -- CMD records a timeline)";
    return verdict;
}

Verdict by_memory() {
    Verdict verdict;
    verdict.conclude(Limit::unknown);
    verdict.because =
        "allocator records show what holds memory, not where time goes (gpu-profile record -- CMD records a timeline)";
    return verdict;
}

// The node of a call tree with the most self time.
Verdict by_tree(const Trace& trace) {
    const CallNodeTable& nodes = trace.tables().call_node;
    const CallMetricTable& metrics = trace.tables().call_metric;
    std::map<std::int64_t, double> time;
    double all = 0;
    for (Row row = 0; row < metrics.rows; ++row) {
        std::string_view unit = trace.text(metrics.unit.value_or(row, kNoString));
        if ((unit != "ns" && unit != "s") || !metrics.value.has(row) || !(metrics.value[row] > 0)) continue;
        time[metrics.node.value_or(row, -1)] += metrics.value[row];
        all += metrics.value[row];
    }
    auto most = std::max_element(time.begin(), time.end(), [](auto& a, auto& b) { return a.second < b.second; });
    Verdict verdict;
    verdict.conclude(Limit::unknown);
    std::string place;
    for (Row row = 0; most != time.end() && row < nodes.rows; ++row)
        if (nodes.node.value_or(row, -1) == most->first)
            place = short_name(trace.text(nodes.name.value_or(row, kNoString)));
    verdict.because = (place.empty() ? fmt::format("a call tree of {} nodes without times", nodes.rows)
                                     : fmt::format("{:.0f} % of the time is in {}", 100 * most->second / all, place)) +
                      "; sums do not show what the GPU waited for (gpu-profile record -- CMD records a timeline)";
    return verdict;
}

// NCCL Inspector's records: durations of collectives, which include waits for other ranks.
Verdict by_collectives(const Trace& trace) {
    Verdict verdict;
    verdict.conclude(Limit::unknown);
    verdict.because =
        fmt::format("{} collectives with their durations; when they ran and what the GPU did besides is not recorded",
                    readable_count(static_cast<std::int64_t>(trace.tables().collective.rows)));
    return verdict;
}

// Which analysis shows which table; the most informative first.
struct Shown {
    std::string_view table, analysis;
};
constexpr Shown kShown[] = {{"rank", "stragglers"},
                            {"rank", "ranks"},
                            {"profiled_kernel", "limits"},
                            {"sample", "samples"},
                            {"memory_event", "memory"},
                            {"memory_event", "allocations"},
                            {"memory_event", "growth"},
                            {"memory_block", "allocations"},
                            {"memory_block", "fragmentation"},
                            {"collective", "collectives"},
                            {"call_node", ""},
                            {"call_metric", ""},
                            {"kernel_counter", ""}};

constexpr Shown kHangs{"collective", "hangs"};

std::vector<const Shown*> what_is_there(const Facts& facts) {
    const Trace& trace = facts.trace();
    if (facts.get<Hangs>().calls.any()) return {&kHangs};
    std::vector<const Shown*> there;
    for (const Shown& shown : kShown)
        trace.tables().each_table([&](const TableSpec& spec, const auto& table) {
            if (spec.name == shown.table && table.rows > 0) there.push_back(&shown);
        });
    return there;
}

Verdict verdict_without_timeline(const Facts& facts) {
    const Trace& trace = facts.trace();
    const Tables& tables = trace.tables();
    if (facts.get<Hangs>().calls.any()) return hang_verdict(facts);
    if (tables.rank.rows > 0) return job_verdict(facts);
    if (tables.profiled_kernel.rows > 0) return by_counters(facts);
    if (tables.sample.rows > 0) return by_samples(facts);
    if (tables.memory_event.rows > 0 || tables.memory_block.rows > 0) return by_memory();
    if (tables.collective.rows > 0) return by_collectives(trace);
    return by_tree(trace);
}

// ExitCode::empty when the trace holds none of that either.
Result<Answer> answer_without_timeline(const Facts& facts) {
    const Trace& trace = facts.trace();
    std::vector<const Shown*> there = what_is_there(facts);
    const std::string& file = trace.origin().file;
    if (there.empty())
        return Error{ExitCode::empty, after_damage(trace, fmt::format("{}: no events; nothing was captured", file))};
    Answer answer;
    answer.window = trace.window();
    const Tables& tables = trace.tables();
    bool dumps = facts.get<Hangs>().calls.any();
    if (dumps)
        answer.trust = hang_trust(facts);
    else if (tables.rank.rows > 0)
        answer.trust = job_trust(facts);
    else
        answer.trust = trust_without_timeline(trace);
    answer.verdict = verdict_without_timeline(facts);
    std::string analyses;
    for (const Shown* shown : there) {
        if (shown->analysis.empty() || analyses.find(shown->analysis) != std::string::npos) continue;
        analyses += fmt::format(" {}", shown->analysis);
        Result<ResultTable> table = find_analysis(shown->analysis)->run(facts);
        if (!table.ok()) return table.error();
        answer.tables.push_back(std::move(table).value());
    }
    answer.findings = kernel_findings(facts);
    if (const std::vector<MeasuredGroup>& groups = facts.get<MeasuredKernels>().groups; !groups.empty())
        answer.next_steps.push_back(fmt::format("gpu-profile report {} kernel {}", file, groups.front().handle));
    if (dumps) {
        answer.next_steps.push_back(tables.rank.rows > 0
                                        ? fmt::format("gpu-profile ranks {} hangs ranks", file)
                                        : std::string("gpu-profile ranks FOLDER, with the dumps of all ranks"));
        return answer;
    }
    if (tables.rank.rows > 0) {
        answer.next_steps.push_back(
            fmt::format("gpu-profile ranks {} job_steps rank_collectives imbalance pipeline links hosts", file));
        return answer;
    }
    answer.next_steps.push_back(analyses.empty() ? fmt::format("gpu-profile export csv {}", file)
                                                 : fmt::format("gpu-profile report {}{}", file, analyses));
    return answer;
}

// Slices of the picture: more than the columns of a wide terminal, so that the report can merge them evenly.
constexpr std::size_t kSlices = 960;
constexpr std::size_t kMaxPredictions = 2;

BusyProfile draw(const DeviceActivity& device, Interval window) {
    BusyProfile picture{device.device, std::vector<double>(kSlices, 0.0)};
    double slice = static_cast<double>(window.length()) / static_cast<double>(kSlices);
    if (slice <= 0) return picture;
    for (const Interval& busy : device.busy) {
        double from = static_cast<double>(busy.start - window.start) / slice,
               to = static_cast<double>(busy.end - window.start) / slice;
        for (auto i = static_cast<std::size_t>(from); i < kSlices && static_cast<double>(i) < to; ++i) {
            double low = std::max(from, static_cast<double>(i)), high = std::min(to, static_cast<double>(i + 1));
            picture.busy[i] += high - low;
        }
    }
    for (double& share : picture.busy) share = std::min(share, 1.0);
    return picture;
}

// Options that select the same part of the recording, rounded outwards to a microsecond.
std::string part_option(const Trace& trace) {
    if (!trace.is_part()) return {};
    DurNs from = (trace.window().start - trace.zero()) / 1000, to = (trace.window().end - trace.zero() + 999) / 1000;
    return fmt::format(" --from {}.{:06} --to {}.{:06}", from / 1'000'000, from % 1'000'000, to / 1'000'000,
                       to % 1'000'000);
}

// Commands that show what the verdict is based on.
std::vector<std::string> next_steps(const Facts& facts, const Verdict& verdict) {
    std::string file = facts.trace().origin().file, part = part_option(facts.trace());
    std::vector<std::string> steps;
    auto show = [&](std::string_view analyses) {
        steps.push_back(fmt::format("gpu-profile report {} {}{}", file, analyses, part));
    };
    if (facts.trace().tables().cpu_sample.rows > 0 && facts.get<Activity>().devices.empty()) show("cpu");
    if (facts.get<Activity>().devices.empty()) return steps;
    switch (verdict.limit) {
        case Limit::input:
        case Limit::launch:
        case Limit::synchronisation:
        case Limit::host:
        case Limit::paced:
        case Limit::no_load: show("gaps idle"); break;
        case Limit::transfer:
            show(facts.get<ManagedMigrations>().limited > 0 ? "unified_memory memcpy" : "memcpy overlap");
            break;
        case Limit::communication: {
            const PeerWaits& peers = facts.get<PeerWaits>();
            if (peers.exposed_wait + peers.exposed_doubtful > 0)
                steps.push_back("gpu-profile ranks FOLDER, with the recordings of all ranks");
            show("collectives overlap");
            break;
        }
        case Limit::compute:
        case Limit::memory_bandwidth:
        case Limit::underfilled:
        case Limit::unknown:
        case Limit::mixed: show(facts.trace().op().rows > 0 ? "kernels ops" : "kernels launches"); break;
        default: break;
    }
    if (facts.get<Replayed>().too_large) steps.push_back(fmt::format("gpu-profile whatif {}{}", file, part));
    show(work_missing(facts.trace()) ? "losses" : "findings");
    return steps;
}

// The first steps of the plan. Each includes those before it.
std::vector<PredictedGain> predictions(const Facts& facts) {
    std::vector<PredictedGain> found;
    if (!facts.get<Replayed>().holds) return found;
    const std::vector<Prediction>& plan = facts.get<WhatIf>().plan;
    for (std::size_t i = 0; i < std::min(kMaxPredictions, plan.size()); ++i) found.push_back(predicted_gain(plan[i]));
    return found;
}

bool has_events(const Trace& trace) {
    bool any = trace.tables().cpu_sample.rows > 0;
    trace.tables().each_table([&](const TableSpec&, const auto& table) {
        if constexpr (requires { table.start; }) any = any || table.rows > 0;
    });
    return any;
}

}  // namespace

Result<Answer> make_answer(const Facts& facts) {
    const Trace& trace = facts.trace();
    if (!has_events(trace) || trace.completeness().measured_instead) return answer_without_timeline(facts);
    Answer answer;
    answer.window = trace.window();
    answer.trust = trust_of(facts, true);
    answer.verdict = facts.get<Diagnosis>().verdict;
    answer.findings = facts.get<Diagnosis>().findings;
    answer.predictions = predictions(facts);
    for (const DeviceActivity& device : facts.get<Activity>().devices)
        answer.busy_profiles.push_back(draw(device, trace.window()));
    for (std::string_view name : {"devices", "idle", "kernels"}) {
        Result<ResultTable> table = find_analysis(name)->run(facts);
        if (!table.ok()) return table.error();
        answer.tables.push_back(std::move(table).value());
    }
    answer.next_steps = next_steps(facts, answer.verdict);
    return answer;
}

}  // namespace gpuprof::answer
