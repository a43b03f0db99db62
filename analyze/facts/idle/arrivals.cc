#include "analyze/facts/idle/arrivals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "analyze/facts/activity.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/idle/host_sleeps.h"
#include "analyze/facts/idle/submitters.h"
#include "analyze/facts/steps/step_finder.h"
#include "analyze/knowledge/host_names.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {
namespace {

// Kernels of one unit are closer than this, or few of them are not. Measured: 6 to 60 us between launches of PyTorch under its
// profiler, 0.3 ms between kernels of a camera frame, seldom 2.4 ms.
constexpr DurNs kClose = 100'000;
constexpr DurNs kNearlyAsLong = 3;     // times shorter than a pause
constexpr double kFew = 0.15;          // such gaps, as a part of the pauses
constexpr std::size_t kMinUnits = 12;  // fewer show no pattern
constexpr double kMostIdle = 0.5;      // of the idle time lies between units
constexpr double kSlept = 0.5;         // of the pauses
constexpr double kMostPauses = 0.8;    // share of pauses that contain some sleep
constexpr double kSomeSleep = 0.1;     // of such a pause
// Robust spreads as a part of the median. A camera of 25 frames a second: 5 %; requests of a Poisson process: 100 %.
constexpr double kConstant = 0.1, kIrregular = 0.5, kSimilar = 0.5;
constexpr double kLowDuty = 0.3;  // of the time in units
constexpr std::size_t kMinUnproved =
    32;                          // units at a constant period that show a clock although nothing tells of the host
constexpr double kSilent = 0.9;  // of the pauses

struct Spread {
    double median = 0, relative = 0;  // 1.48 x the median deviation from the median, as a part of it
};

double median_of(std::vector<double> values) {
    auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

Spread spread_of(const std::vector<double>& values) {
    Spread found{median_of(values)};
    std::vector<double> deviations;
    for (double value : values) deviations.push_back(std::abs(value - found.median));
    if (found.median > 0) found.relative = 1.48 * median_of(std::move(deviations)) / found.median;
    return found;
}

// Kernels of all devices, as one set; of one device, without a copy.
const IntervalSet& kernels_of(const Facts& facts, IntervalSet& of_several) {
    const std::vector<DeviceActivity>& devices = facts.get<Activity>().devices;
    if (devices.size() == 1) return devices.front().kernel();
    for (const DeviceActivity& device : devices) of_several = unite(of_several, device.kernel());
    return of_several;
}

// Pauses at least this long separate units; absent if nothing separates them. Hardly any gap is nearly as long as the shortest pause.
std::optional<DurNs> find_shortest_pause(const IntervalSet& kernels) {
    std::vector<DurNs> gaps;
    double idle = 0;
    for (std::size_t i = 1; i < kernels.size(); ++i) {
        DurNs gap = kernels[i].start - kernels[i - 1].end;
        idle += static_cast<double>(gap);
        if (gap >= kClose) gaps.push_back(gap);
    }
    std::sort(gaps.begin(), gaps.end());
    double longer = 0, fewest = kFew;
    for (DurNs gap : gaps) longer += static_cast<double>(gap);
    std::optional<DurNs> found;
    std::size_t near = 0;  // the first gap that is nearly as long as this one
    for (std::size_t i = 0; i < gaps.size() && longer >= kMostIdle * idle; longer -= static_cast<double>(gaps[i++])) {
        std::size_t pauses = gaps.size() - i;
        if (pauses + 1 < kMinUnits) break;
        while (gaps[near] < gaps[i] / kNearlyAsLong) ++near;
        double few = static_cast<double>(i - near) / static_cast<double>(pauses);
        if (gaps[i] < kNearlyAsLong * kClose || few > fewest || (found && few == fewest)) continue;
        fewest = few;
        found = gaps[i];
    }
    return found;
}

std::vector<Interval> units_of(const IntervalSet& kernels, DurNs pause) {
    std::vector<Interval> units{kernels.front()};
    for (const Interval& busy : kernels) {
        if (busy.start - units.back().end >= pause) units.push_back(busy);
        units.back().end = busy.end;
    }
    return units;
}

// Whether starts keep to a clock: what one period is late, later ones make up for. The sum of n independent periods varies sqrt(n)
// times as much as one; that of n periods of a clock no more than one.
struct Clock {
    bool kept = false;
    double period = 0;
};

Clock clock_of(const std::vector<Interval>& units, const Spread& single) {
    std::size_t many = std::max<std::size_t>(2, units.size() / 4);
    std::vector<double> sums;
    for (std::size_t i = many; i < units.size(); ++i)
        sums.push_back(static_cast<double>(units[i].start - units[i - many].start));
    Spread sum = spread_of(sums);
    auto n = static_cast<double>(many);
    return {sum.relative * sum.median <= std::pow(n, 0.25) * single.relative * single.median, sum.median / n};
}

// What the host is known to have done in the pauses.
struct Pauses {
    double slept = 0, timed = 0, received = 0;  // shares of their time
    double with_sleep = 0;                      // share of pauses with some sleep
    bool observed = false;                      // whether any source tells of a submitting thread
};

Pauses pauses_of(const Facts& facts, const std::vector<Interval>& units) {
    Pauses found;
    double all = 0, slept = 0, timed = 0, received = 0;
    std::size_t some = 0;
    for (std::size_t i = 1; i < units.size(); ++i) {
        Interval pause{units[i - 1].end, units[i].start};
        DurNs most = 0, most_timed = 0, most_received = 0;
        for (const auto& [thread, sleep] : facts.get<HostSleeps>().of_thread) {
            most = std::max(most, length_within(sleep.for_work, pause));
            most_timed = std::max(most_timed, length_within(sleep.timed, pause));
            most_received = std::max(most_received, length_within(sleep.received, pause));
        }
        all += static_cast<double>(pause.length());
        slept += static_cast<double>(most);
        timed += static_cast<double>(most_timed);
        received += static_cast<double>(most_received);
        some += static_cast<double>(most) >= kSomeSleep * static_cast<double>(pause.length());
    }
    for (StringId thread : facts.get<Submitters>().threads())
        found.observed |= facts.get<HostSleeps>().observed.contains(thread);
    found.slept = slept / all;
    found.timed = timed / all;
    found.received = received / all;
    found.with_sleep = static_cast<double>(some) / static_cast<double>(units.size() - 1);
    return found;
}

// The share of the pauses in which no operator or call of a submitting thread is open.
double silent_part(const Facts& facts, const std::vector<Interval>& units) {
    const Trace& trace = facts.trace();
    const Submitters& submitters = facts.get<Submitters>();
    Intervals pauses, recorded;
    for (std::size_t i = 1; i < units.size(); ++i) pauses.push_back({units[i - 1].end, units[i].start});
    auto add = [&](const auto& table) {
        IntervalSet spans;
        for (Row row = 0; row < table.rows; ++row)
            if (submitters.has(table.thread.value_or(row, kNoString)))
                add_merged(spans, {table.start[row], table.start[row] + table.dur[row]});
        recorded = unite(recorded, spans);
    };
    add(trace.api_call());
    add(trace.op());
    auto all = static_cast<double>(length(pauses));
    return 1 - static_cast<double>(length(intersect(pauses, recorded))) / all;
}

// The outermost range that is open once at the first launch of nearly every unit, and no longer than a unit and its pause.
StringId name_of_units(const Facts& facts, const std::vector<Interval>& units) {
    const Trace& trace = facts.trace();
    const Submitters& submitters = facts.get<Submitters>();
    std::map<StringId, std::size_t> counts, first;
    const RangeTable& ranges = trace.range();
    for (Row row = 0; row < ranges.rows; ++row) {
        StringId name = ranges.name.value_or(row, kNoString);
        if (name == kNoString || !submitters.has(ranges.thread.value_or(row, kNoString))) continue;
        first.try_emplace(name, row);
        ++counts[name];
    }
    StringId found = kNoString;
    for (const auto& [name, count] : counts) {
        bool like_units = 10 * count >= 9 * units.size() && 10 * count <= 11 * units.size() + 10;
        // Of several, the one that begins first encloses the others.
        if (like_units && (found == kNoString || first[name] < first[found])) found = name;
    }
    return found;
}

// Whether a range or operator belongs to training, or (of `steps`) looks like its steps.
bool trains(const Facts& facts, bool steps) {
    const Trace& trace = facts.trace();
    auto any = [&](const auto& table) {
        std::vector<char> seen(trace.strings().size(), 0);
        for (Row row = 0; row < table.rows; ++row) {
            StringId each = table.name.value_or(row, kNoString);
            if (each == kNoString || std::exchange(seen[index_of(each)], 1) != 0) continue;
            if (names_training(trace.text(each)) || (steps && names_a_step(trace.text(each)))) return true;
        }
        return false;
    };
    return any(trace.range()) || any(trace.op());
}

// Whether the recording would show training: it has operators, or a range around each unit.
bool shows_programs(const Facts& facts, StringId name) {
    return facts.trace().op().rows > 0 || name != kNoString || !facts.options().step_range.empty();
}

}  // namespace

Arrivals Arrivals::make(const Facts& facts) {
    Arrivals found;
    IntervalSet of_several;
    const IntervalSet& kernels = kernels_of(facts, of_several);
    if (kernels.size() < kMinUnits) return found;
    std::optional<DurNs> pause = find_shortest_pause(kernels);
    if (!pause) return found;
    std::vector<Interval> units = units_of(kernels, *pause);
    std::vector<double> lengths, periods, pauses;
    double working = 0;
    for (std::size_t i = 0; i < units.size(); ++i) {
        lengths.push_back(static_cast<double>(units[i].length()));
        working += lengths.back();
        if (i == 0) continue;
        periods.push_back(static_cast<double>(units[i].start - units[i - 1].start));
        pauses.push_back(static_cast<double>(units[i].start - units[i - 1].end));
    }
    Spread period = spread_of(periods);
    found.units = units.size();
    found.unit = static_cast<DurNs>(median_of(lengths));
    found.shortest_pause = *pause;
    found.name = name_of_units(facts, units);
    found.constant = period.relative <= kConstant;
    DurNs whole = units.back().start - units.front().start;
    Clock clock = clock_of(units, period);
    found.period = found.constant ? static_cast<DurNs>(clock.period) : whole / static_cast<DurNs>(units.size() - 1);
    Pauses host = pauses_of(facts, units);
    bool irregular = spread_of(pauses).relative >= kIrregular;
    if (host.slept >= kSlept && host.with_sleep >= kMostPauses) {
        if (found.constant && (host.timed >= kSlept || clock.kept))
            found.pattern = ArrivalPattern::paced;
        else if (irregular && host.received < kSlept && !trains(facts, false))
            found.pattern = ArrivalPattern::requests;
        return found;
    }
    bool similar = spread_of(lengths).relative <= kSimilar && working <= kLowDuty * static_cast<double>(whole);
    bool steady = found.constant && units.size() >= kMinUnproved && clock.kept;
    if (!host.observed && similar && (irregular || (steady && shows_programs(facts, found.name))) &&
        !trains(facts, facts.options().step_range.empty()) && silent_part(facts, units) >= kSilent)
        found.pattern = ArrivalPattern::unproved;
    return found;
}

}  // namespace gpuprof::facts
