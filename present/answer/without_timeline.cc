#include "present/answer/without_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/kernels/kernel_diagnosis.h"
#include "core/base/text/function_name.h"
#include "core/base/text/readable.h"
#include "core/model/build/damage.h"
#include "present/answer/analyses.h"
#include "present/answer/hang_verdict.h"
#include "present/answer/job_verdict.h"
#include "present/answer/kernel_answer.h"
#include "present/answer/trust.h"
#include "ranks/hangs/hangs.h"

namespace gpuprof::inline answer {
namespace {

// Time of measured launches by what limits them.
struct Measured {
    double compute = 0, memory = 0, latency = 0, unknown = 0;
    double all() const { return compute + memory + latency + unknown; }
};

Measured measured_of(const Facts& facts) {
    Measured found;
    const std::vector<MeasuredGroup>& groups = facts.get<MeasuredKernels>().groups;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        double time = std::max(groups[i].total_ns, 1.0);
        const KernelProfile& profile = facts.get<KernelProfiles>().profiles[i];
        (profile.limit == KernelLimit::unknown   ? found.unknown
         : profile.limit == KernelLimit::latency ? found.latency
         : profile.limit == KernelLimit::compute ? found.compute
                                                 : found.memory) += time;
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
    verdict.conclude(!clear                  ? Limit::mixed
                     : most == found.memory  ? Limit::memory_bandwidth
                     : most == found.compute ? Limit::compute
                                             : Limit::unknown);
    if (verdict.limit == Limit::unknown)
        verdict.because += "; the findings say what they wait for";
    else
        verdict.basis = Basis::counters, verdict.confidence = clear ? Rating::high : Rating::medium;
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
        sum += samples.value[row], ++count;
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

}  // namespace

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
    answer.trust = dumps ? hang_trust(facts) : tables.rank.rows > 0 ? job_trust(facts) : trust_without_timeline(trace);
    answer.verdict = dumps                                                          ? hang_verdict(facts)
                     : tables.rank.rows > 0                                         ? job_verdict(facts)
                     : tables.profiled_kernel.rows > 0                              ? by_counters(facts)
                     : tables.sample.rows > 0                                       ? by_samples(facts)
                     : tables.memory_event.rows > 0 || tables.memory_block.rows > 0 ? by_memory()
                     : tables.collective.rows > 0                                   ? by_collectives(trace)
                                                                                    : by_tree(trace);
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

}  // namespace gpuprof::answer
