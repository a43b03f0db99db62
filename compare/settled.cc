// What settles a verdict besides the deciding metric: the mean that contradicts a median, a cause that vanished where a
// side has a single step, a kernel whose launches differ where there are no steps, and whether the two recordings are of
// one program at all.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "analyze/knowledge/causes.h"
#include "compare/comparison.h"
#include "core/base/text/readable.h"
#include "measure/statistics.h"

namespace gpuprof::compare {
namespace {

constexpr std::size_t kMinOthers = 3;    // steps of the other side if one has a single step
constexpr double kFarRatio = 2;          // of step durations, where a side has a single one
constexpr double kMainShare = 0.5;       // of the difference, of the kernel time, or of the change of the median
constexpr double kVanished = 0.1;        // of what it was
constexpr std::size_t kMinLaunches = 8;  // launches per side; that many are disjoint by chance in 2 of 12,870 cases
constexpr double kEquallyOften = 2;      // ratio of launches per step
// Percent of the kernel time. Pairs of one program among the fixtures have 100 %, pairs of different ones at most 21 %.
constexpr double kMinCommonPct = 25, kMostCommonPct = 80;

// The difference of the means in percent without the longest sample of each side.
double trimmed_pct(std::span<const double> base, std::span<const double> next) {
    auto trimmed = [](std::span<const double> samples) {
        double sum = measure::statistics_of(samples).mean * static_cast<double>(samples.size());
        return (sum - *std::max_element(samples.begin(), samples.end())) / static_cast<double>(samples.size() - 1);
    };
    return 100 * (trimmed(next) / trimmed(base) - 1);
}

// A cause of idle time, or a copy, that start-up does not bring about.
bool lasts(const Contribution& part) {
    if (part.kind == "memcpy") return true;
    constexpr IdleCause kLasting[] = {IdleCause::input_pipeline, IdleCause::launch, IdleCause::synchronisation,
                                      IdleCause::host_memcpy, IdleCause::communication_wait};
    return part.kind == "idle" && std::any_of(std::begin(kLasting), std::end(kLasting),
                                              [&](IdleCause cause) { return part.name == name_of(cause); });
}

// Of each kernel: launches and their durations.
struct Launches {
    PodVector<std::int64_t> durations;
    std::vector<std::span<std::int64_t>> of;
    std::vector<double> sums;
    double all = 0;

    Launches(const Run& run, const KernelNames& names)
        : durations(names.groups.gather([&](Row row) { return run.trace->kernel().dur[row]; })) {
        for (std::size_t group = 0; group < names.groups.size(); ++group) {
            of.push_back(names.groups.slice(durations, group));
            double& sum = sums.emplace_back(0);
            for (std::int64_t dur : of.back()) sum += static_cast<double>(dur);
            all += sum;
        }
    }
    double count(std::size_t group) const { return static_cast<double>(of[group].size()); }
};

double median_of(std::span<const std::int64_t> durations) {
    std::vector<double> values(durations.begin(), durations.end());
    return measure::statistics_of(values).median;
}

Change& change_in(Comparison& found, Metric metric) { return found.changes[static_cast<std::size_t>(metric)]; }

}  // namespace

void withdraw_contradicted(Changes& changes, std::span<const double> base, std::span<const double> next) {
    Change& median = changes[static_cast<std::size_t>(Metric::step_p50)];
    const Change& mean = changes[static_cast<std::size_t>(Metric::step_mean)];
    if (!median.pct || !mean.pct || decided(mean)) return;
    auto trimmed = [&] { return std::abs(base.size() > 1 && next.size() > 1 ? trimmed_pct(base, next) : *mean.pct); };
    bool opposite = decided(median) && *median.pct * *mean.pct < 0 && std::abs(*mean.pct) >= kMinChange;
    double half = std::abs(*median.pct) * kMainShare;
    bool less = decided(median) && std::abs(*mean.pct) < half && trimmed() < half;
    bool more = median.word == Word::same && mean.word != Word::same && std::abs(*mean.pct) > kSameWithin &&
                trimmed() > kSameWithin;
    if (!opposite && !less && !more) return;
    median.word = Word::cannot_tell;
    median.few = true;
    median.because += fmt::format("; but the mean changed by {:+.1f} %", *mean.pct);
}

void decide_by_cause(Comparison& found, const Run& base, const Run& next) {
    Change& change = change_in(found, found.deciding);
    if (!found.single_runs || found.deciding != Metric::step_p50 || change.word != Word::cannot_tell || !change.pct)
        return;
    auto [fewer, more] = std::minmax(change.base_samples, change.new_samples);
    if (fewer != 1 || more < kMinOthers || *change.base <= 0 || *change.next <= 0) return;
    const Run& longer = change.base_samples == 1 ? next : base;
    auto [least, most] = std::minmax_element(longer.metric(Metric::step_p50).samples.begin(),
                                             longer.metric(Metric::step_p50).samples.end());
    double difference = std::abs(std::log(*change.next / *change.base)), spread = std::log(*most / *least);
    if (difference < std::max(std::log(kFarRatio), kRangesOfFew * spread)) return;
    auto total = static_cast<double>(found.attribution.difference());
    for (const Contribution& part : found.attribution.parts) {
        auto [smaller, larger] = std::minmax(part.base_ns, part.new_ns);
        if (!lasts(part) || static_cast<double>(part.difference()) / total < kMainShare ||
            static_cast<double>(smaller) > kVanished * static_cast<double>(larger))
            continue;
        change.word = *change.pct > 0 ? Word::higher : Word::lower;
        change.because = fmt::format(
            "from {} and {} steps, far beyond their spread of {:.1f} %, and the main cause {}: {} {} {} -> {}; low "
            "confidence: a single step",
            change.base_samples, change.new_samples, 100 * std::expm1(spread),
            part.difference() > 0 ? "is new" : "is gone", part.kind, part.name,
            readable_duration(static_cast<double>(part.base_ns)), readable_duration(static_cast<double>(part.new_ns)));
        return;
    }
}

void decide_by_kernel(Comparison& found, const Run& base, const Run& next) {
    Change& change = change_in(found, Metric::kernel_time);
    const Change& wall = change_in(found, Metric::wall_time);
    bool whole = found.deciding == Metric::wall_time && base.steps.steps.empty() && next.steps.steps.empty();
    if (!found.single_runs || !whole || wall.word != Word::cannot_tell || !wall.pct || !change.pct) return;
    Launches before(base, found.base_kernels), after(next, found.new_kernels);
    for (const KernelPair& pair : found.pairs.pairs) {
        if (pair.base == KernelPair::kUnpaired || pair.next == KernelPair::kUnpaired) continue;
        std::span<const std::int64_t> olds = before.of[pair.base], news = after.of[pair.next];
        if (before.sums[pair.base] < kMainShare * before.all || after.sums[pair.next] < kMainShare * after.all)
            continue;
        if (olds.size() != news.size() || olds.size() < kMinLaunches) return;
        auto [old_least, old_most] = std::minmax_element(olds.begin(), olds.end());
        auto [new_least, new_most] = std::minmax_element(news.begin(), news.end());
        bool shorter = *new_most<*old_least, longer = *new_least> * old_most;
        bool clear = std::abs(*change.pct) >= kMinChangeOfFew && *change.pct * *wall.pct > 0;
        if (!clear || (shorter ? *change.pct > 0 : !longer || *change.pct < 0)) return;
        found.deciding = Metric::kernel_time;
        change.word = shorter ? Word::lower : Word::higher;
        change.few = true;
        change.because = fmt::format(
            "without steps, from the launches of {}: each of {} in NEW is {} than each in BASE, median {} -> {}; low "
            "confidence: one recording per side",
            stem_of(found.new_kernels.names[pair.next]), news.size(), shorter ? "shorter" : "longer",
            readable_duration(median_of(olds)), readable_duration(median_of(news)));
        return;
    }
}

void judge_common_kernels(Comparison& found, const Run& base, const Run& next) {
    Launches before(base, found.base_kernels), after(next, found.new_kernels);
    if (before.all <= 0 || after.all <= 0) return;
    std::vector<KernelPair> pairs, old_alone, new_alone;
    for (const KernelPair& pair : found.pairs.pairs)
        (pair.next == KernelPair::kUnpaired   ? old_alone
         : pair.base == KernelPair::kUnpaired ? new_alone
                                              : pairs)
            .push_back(pair);
    // The only kernel that is new has replaced the only one that vanished.
    if (old_alone.size() == 1 && new_alone.size() == 1) pairs.push_back({old_alone[0].base, new_alone[0].next});
    double olds = 0, news = 0, old_time = 0, new_time = 0;
    for (const KernelPair& pair : pairs) olds += before.count(pair.base), news += after.count(pair.next);
    // Whole recordings may be of different lengths: then the launches are relative to those of all common kernels.
    if (found.attribution.of_steps) olds = static_cast<double>(base.parts()), news = static_cast<double>(next.parts());
    for (const KernelPair& pair : pairs) {
        double ratio = before.count(pair.base) / olds / (after.count(pair.next) / news);
        if (ratio > kEquallyOften || ratio * kEquallyOften < 1) continue;
        old_time += before.sums[pair.base], new_time += after.sums[pair.next];
    }
    found.common.base_pct = 100 * old_time / before.all;
    found.common.new_pct = 100 * new_time / after.all;
    double least = std::min(*found.common.base_pct, *found.common.new_pct);
    found.common.same_program = least >= kMinCommonPct;
    if (least >= kMostCommonPct) return;
    std::string shares = fmt::format(
        "kernels that both sides launch about equally often make up {:.0f} % of the kernel "
        "time of BASE and {:.0f} % of that of NEW",
        *found.common.base_pct, *found.common.new_pct);
    if (found.common.same_program)
        found.comparability.statements.push_back({false, shares});
    else
        found.comparability.statements.push_back(
            {.warning = true,
             .text =
                 fmt::format("different programs: {}; below {:.0f} % neither is called faster", shares, kMinCommonPct),
             .code = kWarnings[static_cast<std::size_t>(Warning::different_programs)].name});
}

}  // namespace gpuprof::compare
