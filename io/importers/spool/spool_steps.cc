#include "io/importers/spool/spool_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "core/base/text/readable.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline importers {
namespace {

using spool::KeptStep;
using spool::StepSeries;

constexpr std::size_t kListed = 5;           // kept steps in a sentence
constexpr double kDrift = 1.2;               // change of the median that is worth saying
constexpr std::uint32_t kMaxEntries = 1024;  // more than any process writes

// The next struct of the bytes; false if there are too few.
template <class Struct>
bool take_struct(std::string_view& bytes, Struct& into) {
    if (bytes.size() < sizeof into) return false;
    std::memcpy(&into, bytes.data(), sizeof into);
    bytes.remove_prefix(sizeof into);
    return true;
}

bool plausible(const KeptStep& step) { return step.since >= 0 && step.since <= step.begin && step.begin <= step.end; }

std::string count_of(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", readable_count(static_cast<std::int64_t>(count)), noun, count == 1 ? "" : "s");
}

std::string times_median(std::int64_t duration, std::int64_t median) {
    return fmt::format("{:.2f}x", static_cast<double>(duration) / static_cast<double>(median));
}

// 1.5x for 1,500,000 millionths, without zeros at the end.
std::string factor_text(std::int64_t millionths) {
    std::string digits = fmt::format("{}.{:06}", millionths / 1'000'000, millionths % 1'000'000);
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
    return digits + "x";
}

}  // namespace

bool SpoolSteps::take(std::string_view payload) {
    spool::StepsSeen seen{};
    if (!take_struct(payload, seen) || seen.series > kMaxEntries || seen.kept > kMaxEntries || seen.since < 0)
        return false;
    std::vector<StepSeries> series(seen.series);
    std::vector<KeptStep> kept(seen.kept);
    for (StepSeries& each : series)
        if (!take_struct(payload, each)) return false;
    for (KeptStep& each : kept)
        if (!take_struct(payload, each) || !plausible(each)) return false;
    seen_ = seen;
    series_ = std::move(series);
    kept_ = std::move(kept);
    return true;
}

std::map<TimeNs, TimeNs> SpoolSteps::windows() const {
    Intervals spans;
    for (const KeptStep& step : kept_) spans.push_back({step.since, step.end});
    std::map<TimeNs, TimeNs> joined;
    for (const Interval& each : unite(std::move(spans))) joined[each.start] = each.end;
    if (!seen_ || seen_->since == 0) return joined;
    TimeNs since = seen_->since;
    while (!joined.empty() && joined.rbegin()->second >= since) {
        since = std::min(since, joined.rbegin()->first);
        joined.erase(std::prev(joined.end()));
    }
    joined[since] = 0;
    return joined;
}

KeptStepFact SpoolSteps::fact_of(const KeptStep& step) const {
    KeptStepFact fact;
    fact.number = step.number;
    fact.span = {step.begin, step.end};
    fact.duration = step.duration;
    fact.median = step.median;
    fact.missing = step.missing;
    fact.warm_up = (step.flags & KeptStep::kWarmUp) != 0;
    fact.unfinished = (step.flags & KeptStep::kUnfinished) != 0;
    if (series_.size() > 1) fact.thread = std::to_string(step.thread);
    return fact;
}

std::vector<KeptStepFact> SpoolSteps::slowest_first() const {
    std::vector<KeptStepFact> steps;
    for (const KeptStep& step : kept_) steps.push_back(fact_of(step));
    sort_slowest_first(steps);
    return steps;
}

std::string SpoolSteps::what_was_kept() const {
    std::uint64_t ended = 0;
    const StepSeries* most = nullptr;
    for (const StepSeries& series : series_) {
        ended += series.ended;
        if (series.slowest != 0 && (most == nullptr || series.slowest_ns > most->slowest_ns)) most = &series;
    }
    std::string steps = count_of(ended, "step");
    if (series_.size() > 1) steps += fmt::format(" of {} threads", series_.size());
    std::string over = fmt::format("over {} the median of the steps before", factor_text(seen_->trigger));
    if (kept_.empty()) {
        if (seen_->trigger == 0) return fmt::format("kept none of {}", steps);
        std::string none = fmt::format("no step took {} it, so none of {} was kept", over, steps);
        if (most == nullptr)
            return fmt::format("{}: all belong to the warm-up, the first {} of a thread", none, seen_->warm_up);
        none +=
            fmt::format("; the slowest after the warm-up was step {} ({}",
                        readable_count(static_cast<std::int64_t>(most->slowest)), readable_duration(most->slowest_ns));
        if (most->slowest_median > 0)
            none += ", " + times_median(most->slowest_ns, most->slowest_median) + " the median";
        return none + ")";
    }
    std::string text = fmt::format("kept {} of {}", kept_.size(), steps);
    if (seen_->trigger > 0 && seen_->fired > kept_.size())
        text = fmt::format("kept the {} slowest of {} that took {} them, of {}", kept_.size(),
                           count_of(seen_->fired, "step"), over, steps);
    else if (seen_->trigger > 0)
        text += kept_.size() == 1 ? fmt::format(", the only one that took {} it", over)
                                  : fmt::format(", those that took {} them", over);
    std::vector<KeptStepFact> listed = slowest_first();
    for (std::size_t i = 0; i < std::min(listed.size(), kListed); ++i)
        text += fmt::format("{}{}", i == 0 ? ": " : ", ", kept_step_text(listed[i]));
    if (listed.size() > kListed) text += fmt::format(" and {} more", listed.size() - kListed);
    return text;
}

// No step ended: what is known instead.
std::string SpoolSteps::nothing_ended() const {
    auto open =
        std::find_if(series_.begin(), series_.end(), [](const StepSeries& each) { return each.open_since != 0; });
    std::string text = "no step ended";
    if (open == series_.end()) return text;
    text += fmt::format("; one began {} earlier",
                        readable_duration(std::max<DurNs>(seen_->reported - open->open_since, 0)));
    return open->open_is_mark != 0 ? text + " with a mark, and the next mark would end it" : text;
}

std::string SpoolSteps::remarks() const {
    std::string text;
    std::int64_t slowest = 0, between = 0;
    const StepSeries* longest = nullptr;
    for (const StepSeries& series : series_) {
        slowest = std::max(slowest, series.slowest_ns);
        between = std::max(between, series.longest_between);
        if (longest == nullptr || series.ended > longest->ended) longest = &series;
        if (seen_->since != 0 && seen_->unjudged == 0 && series.ended > 0 && series.open_since != 0)
            text +=
                fmt::format("; its step {} had lasted {}", readable_count(static_cast<std::int64_t>(series.ended) + 1),
                            readable_duration(std::max<DurNs>(seen_->reported - series.open_since, 0)));
    }
    for (const KeptStep& step : kept_) slowest = std::max(slowest, step.duration);
    if (longest != nullptr && longest->last_median > 0) {
        auto first = static_cast<double>(longest->first_median), end = static_cast<double>(longest->last_median);
        if (end > kDrift * first || first > kDrift * end)
            text += fmt::format("; steps became {}: the median was {} at first and {} at the end",
                                end > first ? "slower" : "faster", readable_duration(first), readable_duration(end));
        else
            text += fmt::format("; the median of the last steps is {}", readable_duration(end));
    }
    if (between > slowest && seen_->unjudged == 0)
        text += fmt::format("; up to {} passed between two steps, more than in any step", readable_duration(between));
    if (seen_->nested > 0)
        text += fmt::format("; {} began within a step and {} part of it", count_of(seen_->nested, "step"),
                            seen_->nested == 1 ? "is" : "are");
    if (seen_->unjudged > 0)
        text += fmt::format(
            "; {} could not be judged: too many at a time, on more than 64 threads, or partly outside the recording",
            count_of(seen_->unjudged, "step"));
    if (seen_->stuck > 0) text += fmt::format("; no new file could be created {}", count_of(seen_->stuck, "time"));
    return text;
}

void SpoolSteps::add_facts(Batch& batch, const std::string& process) const {
    auto add = [&](const char* key, const std::string& value) {
        MetaTable& table = batch.tables.meta;
        Row row = table.add();
        table.key.set(row, batch.intern(key));
        table.value.set(row, batch.intern(value));
    };
    for (const KeptStep& step : kept_) {
        add(meta_key::kKeptStep, encode_kept_step(fact_of(step)));
        if (step.missing > 0)
            batch.lose(Loss::recorder_loss, fmt::format("{}: {}: its data exceeded what is kept of one step", process,
                                                        kept_step_text(fact_of(step))));
    }
    bool any = std::any_of(series_.begin(), series_.end(), [](const StepSeries& each) { return each.ended > 0; });
    bool killed = seen_->since != 0;
    std::string text =
        process +
        (killed ? " did not finish its recording (killed, exec, or a full disk); at its last report: " : ": ");
    text += (any || !kept_.empty() ? what_was_kept() : nothing_ended()) + remarks();
    if (killed)
        text += "; its last records are kept too";
    else if (!any && kept_.empty())
        text += "; nothing of it was kept";
    add(any || !kept_.empty() ? meta_key::kSlowSteps : meta_key::kNoSteps, text);
}

void SpoolSteps::add_ranges(Batch& batch, const std::function<StringId(std::uint32_t)>& thread_key) const {
    RangeTable& table = batch.tables.range;
    for (const KeptStep& step : kept_) {
        if ((step.flags & KeptStep::kMark) == 0) continue;
        Row row = table.add();
        table.start.set(row, step.begin);
        table.dur.set(row, span_between(step.begin, step.end));
        table.thread.set(row, thread_key(step.thread));
        table.name.set(row, batch.intern(fmt::format("step {}", step.number)));
    }
}

}  // namespace gpuprof::importers
