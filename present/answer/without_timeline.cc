// The first answer to a file without a timeline: counters of kernels, samples of a device, an allocator's records, dumps of
// flight recorders or a call tree. Each says what it shows, and what to record for the rest.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/facts/facts.h"
#include "analyze/kernels/kernel_diagnosis.h"
#include "core/base/result.h"
#include "core/base/text/function_name.h"
#include "core/base/text/readable.h"
#include "core/model/answer.h"
#include "core/model/build/damage.h"
#include "core/schema/utilisation.h"
#include "present/answer/analyses.h"
#include "present/answer/job_verdict.h"
#include "present/answer/kernel_answer.h"
#include "present/answer/make_answer.h"
#include "present/answer/trust.h"
#include "ranks/hangs/hang_text.h"
#include "ranks/hangs/hangs.h"
#include "ranks/reduce/call_text.h"

namespace gpuprof::inline answer {
namespace {

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

// Utilisation of one device, as live sampling judges it.
Utilisation utilisation_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    Utilisation found{.samples = values.size()};
    double low = 0, high = 0, sum = 0;
    for (double value : values) sum += value, low += value < kIdleBelowPct, high += value >= kActiveFromPct;
    auto count = static_cast<double>(std::max<std::size_t>(values.size(), 1));
    found.mean = sum / count, found.idle_pct = 100 * low / count, found.active_pct = 100 * high / count;
    if (!values.empty()) found.p5 = values[static_cast<std::size_t>(0.05 * (count - 1))];
    return found;
}

// Samples show whether a device was busy, but not why. The busiest device decides.
Verdict by_samples(const Facts& facts) {
    const SampleTable& samples = facts.trace().tables().sample;
    StringId metric = facts.trace().strings().find("util.gpu");
    std::map<std::int32_t, std::vector<double>> busy;  // percent, by device
    for (Row row = 0; row < samples.rows; ++row)
        if (metric != kNoString && samples.metric.value_or(row, kNoString) == metric && samples.value.has(row))
            busy[samples.device.value_or(row, -1)].push_back(samples.value[row]);
    Verdict verdict;
    verdict.conclude(Limit::unknown);
    std::string devices;
    double most = -1;
    for (auto& [device, values] : busy) {
        Utilisation found = utilisation_of(std::move(values));
        std::string_view pattern = pattern_of(found);
        if (found.mean > most && pattern != "unknown") most = found.mean, verdict.name = pattern;
        devices += fmt::format("{}GPU {} was busy {:.0f} % of the time ({}, {:.0f} % of them idle)",
                               devices.empty() ? "" : ", ", device, found.mean, readable_count(found.samples, "sample"),
                               found.idle_pct);
    }
    verdict.because =
        (devices.empty() ? "the samples do not contain utilisation" : devices) +
        "; samples do not show what the GPU ran or waited for (gpu-profile record -- CMD records a timeline)";
    return verdict;
}

// Cells of a table's first row, by the names of its columns.
class FirstRow {
public:
    explicit FirstRow(const Facts& facts, std::string_view analysis) : table_(find_analysis(analysis)->run(facts)) {}
    bool any() const { return table_.ok() && table_->rows() > 0; }
    std::int64_t number(std::string_view column) const { return value<std::int64_t>(column).value_or(0); }
    std::string bytes(std::string_view column) const { return readable_bytes(static_cast<double>(number(column))); }
    double real(std::string_view column) const { return value<double>(column).value_or(0); }
    std::string text(std::string_view column) const {
        return std::string(value<std::string_view>(column).value_or(""));
    }

private:
    template <class T>
    std::optional<T> value(std::string_view column) const {
        Cell cell = table_->cell(0, table_->column(column));
        const T* found = std::get_if<T>(&cell);
        return found == nullptr ? std::nullopt : std::optional(*found);
    }
    Result<ResultTable> table_;
};

// The peak, who holds what is allocated at the end, what grows, and how much of the reserved memory is of no use.
Verdict by_memory(const Facts& facts) {
    Verdict verdict;
    verdict.conclude(Limit::unknown);
    verdict.name = "memory";
    FirstRow peak(facts, "memory"), holder(facts, "allocations"), growth(facts, "growth"), free(facts, "fragmentation");
    std::vector<std::string> said;
    if (peak.any() && peak.number("peak_bytes") > 0)
        said.push_back(fmt::format("the peak is {}, {} after the beginning", peak.bytes("peak_bytes"),
                                   readable_duration(peak.number("at_ns"))));
    if (holder.any() && holder.number("bytes") > 0)
        said.push_back(
            fmt::format("{} hold{} {}, {} % of what is in use",
                        holder.text("owner").empty() ? "allocations of unknown origin" : holder.text("owner"),
                        holder.text("owner").empty() ? "" : "s", holder.bytes("bytes"),
                        readable_percent(holder.real("share_pct"))));
    if (growth.any() && growth.number("grown_bytes") > 0)
        said.push_back(fmt::format("{} grows from {} to {}",
                                   growth.text("owner").empty() ? "memory of unknown origin" : growth.text("owner"),
                                   growth.bytes("from_bytes"), growth.bytes("to_bytes")));
    if (free.any() && free.number("free_bytes") > 0)
        said.push_back(fmt::format("{} % of the reserved {} is free, {} % of that outside its largest block",
                                   readable_percent(free.real("free_pct")), free.bytes("reserved_bytes"),
                                   readable_percent(free.real("fragmented_pct"))));
    for (const std::string& each : said) verdict.because += (verdict.because.empty() ? "" : "; ") + each;
    if (said.empty())
        verdict.because = "the allocator's records hold no memory; gpu-profile record -- CMD records where time goes";
    return verdict;
}

// The metric that a call tree is judged by: of time, else of bytes, else any with a unit. Of several in a unit the first, because the
// others say the same in another way, as the most of a warp does; but pprof's files of memory end with what is in use. None if the
// values include those of children.
struct JudgedMetric {
    StringId metric = kNoString, unit = kNoString;
};
JudgedMetric judged_metric(const Trace& trace) {
    const CallMetricTable& metrics = trace.tables().call_metric;
    JudgedMetric best;
    int rank = -1;
    for (Row row = 0; row < metrics.rows; ++row) {
        const JudgedMetric each{metrics.metric.value_or(row, kNoString), metrics.unit.value_or(row, kNoString)};
        const std::string_view unit = trace.text(each.unit);
        const bool bytes = unit == "bytes" || unit == "B";
        const int found = unit == "ns" || unit == "s" ? 3 : bytes ? 2 : !unit.empty();
        if (found < rank || (found == rank && best.metric != kNoString && !bytes)) continue;
        rank = found, best = trace.text(each.metric).ends_with("(inc)") ? JudgedMetric{} : each;
    }
    return best;
}

// The node of a call tree that has most of it itself.
Verdict by_tree(const Trace& trace) {
    const CallNodeTable& nodes = trace.tables().call_node;
    const CallMetricTable& metrics = trace.tables().call_metric;
    const JudgedMetric judged = judged_metric(trace);
    const std::string_view unit = trace.text(judged.unit);
    const bool bytes = unit == "bytes" || unit == "B", time = unit == "ns" || unit == "s";
    std::map<std::int64_t, double> sums;
    double all = 0;
    for (Row row = 0; row < metrics.rows; ++row) {
        if (metrics.metric.value_or(row, kNoString) != judged.metric ||
            metrics.unit.value_or(row, kNoString) != judged.unit || !metrics.value.has(row) ||
            !(metrics.value[row] > 0))
            continue;
        sums[metrics.node.value_or(row, -1)] += metrics.value[row];
        all += metrics.value[row];
    }
    auto most = std::max_element(sums.begin(), sums.end(), [](auto& a, auto& b) { return a.second < b.second; });
    Verdict verdict;
    verdict.conclude(Limit::unknown);
    if (bytes && all > 0) verdict.name = "memory";
    std::string place;
    for (Row row = 0; most != sums.end() && row < nodes.rows; ++row)
        if (nodes.node.value_or(row, -1) == most->first)
            place = short_name(trace.text(nodes.name.value_or(row, kNoString)));
    std::string_view what = time ? "the time" : bytes ? "what is in use" : "the total";
    verdict.because = place.empty() ? fmt::format("a call tree of {} without times", readable_count(nodes.rows, "node"))
                                    : fmt::format("{:.0f} % of {} is in {}", 100 * most->second / all, what, place);
    if (bytes && all > 0) verdict.because = fmt::format("{} are in use; {}", readable_bytes(all), verdict.because);
    if (!bytes)
        verdict.because +=
            count_of(trace, Loss::unplaced_scope) > 0
                ? "; when each scope ran is not read (ui.perfetto.dev opens the same file and shows it)"
                : "; sums do not show what the GPU waited for (gpu-profile record -- CMD records a timeline)";
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

// Samples of warps, without the times of kernels.
Verdict by_instructions(const Facts& facts) {
    Verdict verdict;
    verdict.conclude(Limit::unknown);
    FirstRow line(facts, "source");
    verdict.because = "samples of instructions, without the times of kernels";
    if (!line.any() || line.number("samples") == 0) return verdict;
    std::string place = line.text("name");
    if (!line.text("file").empty()) place += fmt::format(", {}:{}", line.text("file"), line.number("line"));
    verdict.name = "instructions";
    verdict.because =
        fmt::format("{} % of the samples of warps are at {}", readable_percent(line.real("share_pct")), place);
    if (!line.text("stall").empty())
        verdict.because += fmt::format("; warps wait there mostly for {} ({} % of them)", line.text("stall"),
                                       readable_percent(line.real("stall_pct")));
    verdict.because += "; times of kernels are not in this file (gpu-profile record -- CMD records them)";
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
                            {"kernel_counter", ""},
                            {"instruction_counter", "source"}};

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
    if (tables.memory_event.rows > 0 || tables.memory_block.rows > 0) return by_memory(facts);
    if (tables.collective.rows > 0) return by_collectives(trace);
    if (tables.instruction_counter.rows > 0) return by_instructions(facts);
    return by_tree(trace);
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

}  // namespace gpuprof::answer
