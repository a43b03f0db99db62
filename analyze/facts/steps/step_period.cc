// Finds steps without annotations: a kernel sequence that repeats on the busiest stream.
// A kernel that occurs rarely and at regular distances marks the period. The period is accepted if kernels one period
// apart have the same name nearly everywhere. Of several markers, the rarest wins, since an iteration contains every
// shorter repetition. A step begins where the device waits longest within the period. Whole periods before the first
// and after the last marker are steps too.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "analyze/facts/steps/engines.h"
#include "analyze/facts/steps/step_finder.h"
#include "core/base/large_vector.h"

namespace gpuprof::inline facts {
namespace {

constexpr std::size_t kMinPeriod =
    16;  // kernels per period; shorter periods are as likely a pattern inside an iteration
constexpr std::size_t kMinPeriods = 3;  // minimum number of periods
constexpr std::size_t kMaxMarkerCandidates = 64;
constexpr std::size_t kMaxMarkersPerStep = 4;  // maximum occurrences of a marker in one period
constexpr double kRegular = 0.8;               // minimum share of a marker's distances that equal the period
constexpr std::size_t kMinRepeatingPct =
    50;                                // minimum percentage of kernels in the repeating part; start-up has others
constexpr double kMinSameShare = 0.9;  // minimum share of kernels with the same name as one period later

struct Period {
    std::size_t length = 0;              // kernels
    double same = 0;                     // share of kernels with the same name as one period later
    LargeVector<std::size_t> positions;  // of the marker, one per period
};

// Share of kernels, from the first marker to the last, with the same name as one period later.
double sameness(const BusiestStream& stream, const Period& period) {
    std::size_t same = 0, first = period.positions.front(), last = period.positions.back();
    for (std::size_t i = first; i + period.length < last; ++i) same += stream.name(i) == stream.name(i + period.length);
    return static_cast<double>(same) / static_cast<double>(last - first - period.length);
}

// The longest run of distances of which a share of kRegular equals `wanted`; start-up and shutdown lie outside it.
std::pair<std::size_t, std::size_t> steady_stretch(const LargeVector<std::size_t>& distances, std::size_t wanted) {
    std::pair<std::size_t, std::size_t> best{0, 0};
    std::size_t begin = 0, regular = 0;
    for (std::size_t end = 1; end <= distances.size(); ++end) {
        if (distances[end - 1] == wanted) {
            if (regular == 0) begin = end - 1;
            ++regular;
            if (static_cast<double>(regular) >= kRegular * static_cast<double>(end - begin) &&
                end - begin > best.second - best.first)
                best = {begin, end};
        } else if (regular > 0 && static_cast<double>(regular) < kRegular * static_cast<double>(end - begin)) {
            regular = 0;
        }
    }
    return best;
}

// The period of a marker that occurs `per_step` times in each; length 0 if its distances are regular over less than
// half of the kernels.
Period period_of(const LargeVector<std::size_t>& positions, std::size_t per_step, std::size_t kernels) {
    if (positions.size() < kMinPeriods * per_step) return {};
    LargeVector<std::size_t> distances;
    for (std::size_t i = 0; i + per_step < positions.size(); ++i)
        distances.push_back(positions[i + per_step] - positions[i]);
    LargeVector<std::size_t> sorted = distances;
    auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    auto [begin, end] = steady_stretch(distances, *middle);
    if (*middle < kMinPeriod || end - begin + per_step < kMinPeriods * per_step) return {};
    Period period{*middle, 0, {}};
    for (std::size_t i = begin; i < end + per_step; i += per_step) period.positions.push_back(positions[i]);
    std::size_t covered = period.positions.back() - period.positions.front() + period.length;
    return period.positions.size() >= kMinPeriods && covered >= kMinRepeatingPct * kernels / 100 ? period : Period{};
}

// A name and its number of occurrences. Positions are collected only for the few markers that are tried.
struct Marker {
    StringId name;
    std::uint32_t count = 0, first = 0;
};

// Names that occur often enough to repeat and rarely enough to mark a period, rarest first.
std::vector<Marker> markers_of(const BusiestStream& stream, std::size_t strings) {
    std::vector<Marker> by_name(strings + 1, Marker{kNoString});  // the last is "no name"
    for (std::size_t i = 0; i < stream.size(); ++i) {
        Marker& marker = by_name[stream.name(i) == kNoString ? strings : index_of(stream.name(i))];
        if (marker.count++ == 0) {
            marker.name = stream.name(i);
            marker.first = static_cast<std::uint32_t>(i);
        }
    }
    auto useless = [&](const Marker& marker) {
        return marker.count < kMinPeriods || marker.count * kMinPeriod > stream.size() * kMaxMarkersPerStep;
    };
    by_name.erase(std::remove_if(by_name.begin(), by_name.end(), useless), by_name.end());
    std::sort(by_name.begin(), by_name.end(), [](const Marker& a, const Marker& b) {
        return a.count != b.count ? a.count < b.count : a.first < b.first;
    });
    return by_name;
}

LargeVector<std::size_t> positions_of(const BusiestStream& stream, const Marker& marker) {
    LargeVector<std::size_t> positions;
    positions.reserve(marker.count);
    for (std::size_t i = marker.first; positions.size() < marker.count; ++i)
        if (stream.name(i) == marker.name) positions.push_back(i);
    return positions;
}

Period find_period(const BusiestStream& stream, std::size_t strings) {
    std::vector<Marker> markers = markers_of(stream, strings);
    if (markers.size() > kMaxMarkerCandidates) markers.resize(kMaxMarkerCandidates);
    for (const Marker& marker : markers) {
        LargeVector<std::size_t> positions = positions_of(stream, marker);
        for (std::size_t per_step = 1; per_step <= kMaxMarkersPerStep; ++per_step) {
            Period period = period_of(positions, per_step, stream.size());
            if (period.length == 0) continue;
            period.same = sameness(stream, period);
            if (period.same >= kMinSameShare) return period;
        }
    }
    return {};
}

// The offset before the marker, in kernels, at which the device waits longest, summed over the periods.
std::size_t lead_in(const KernelTable& kernels, const BusiestStream& stream, const Period& period) {
    std::vector<double> waited(period.length, 0);
    for (std::size_t marker : period.positions)
        for (std::size_t back = 0; back < period.length && back < marker; ++back) {
            Row row = stream[marker - back], before = stream[marker - back - 1];
            waited[back] += static_cast<double>(
                std::max<DurNs>(0, kernels.start[row] - kernels.start[before] - kernels.dur[before]));
        }
    return static_cast<std::size_t>(std::max_element(waited.begin(), waited.end()) - waited.begin());
}

// Adds steps before the first and after the last marker: an equal sequence one period away from a step is a step.
void extend(const BusiestStream& stream, std::size_t length, LargeVector<std::size_t>& begins) {
    auto equal_periods = [&](std::size_t begin, std::size_t other) {
        std::size_t same = 0;
        for (std::size_t i = 0; i < length; ++i) same += stream.name(begin + i) == stream.name(other + i);
        return stream.name(begin) == stream.name(other) &&
               static_cast<double>(same) >= kMinSameShare * static_cast<double>(length);
    };
    while (begins.front() >= length && begins.front() + length <= stream.size() &&
           equal_periods(begins.front() - length, begins.front()))
        begins.insert(begins.begin(), begins.front() - length);
    while (begins.back() >= length && begins.back() + length < stream.size() &&
           equal_periods(begins.back(), begins.back() - length) &&
           stream.name(begins.back() + length) == stream.name(begins.back()))
        begins.push_back(begins.back() + length);
}

// How many of the repetitions lie in the same launch of a graph as the one before.
std::size_t in_one_launch(const Trace& trace, const BusiestStream& stream, const LargeVector<std::size_t>& begins) {
    std::size_t same = 0;
    for (std::size_t i = 1; i < begins.size(); ++i) {
        Row call = trace.links().kernel_launch[stream[begins[i]]];
        same += call != kNoRow && call == trace.links().kernel_launch[stream[begins[i - 1]]];
    }
    return same;
}

}  // namespace

BusiestStream::BusiestStream(const KernelTable& kernels, std::int64_t only_device) : kernels_(kernels) {
    using Key = std::tuple<std::int32_t, std::int32_t, std::int64_t>;
    auto key = [&](Row row) {
        return Key{kernels.device.value_or(row, -1), kernels.context.value_or(row, -1),
                   kernels.stream.value_or(row, -1)};
    };
    std::map<Key, std::size_t> counts;
    std::pair<const Key, std::size_t>* last = nullptr;
    for (Row row = 0; row < kernels.rows; ++row) {
        if (only_device >= 0 && kernels.device.value_or(row, -1) != only_device) continue;
        if (Key here = key(row); last == nullptr || last->first != here) last = &*counts.try_emplace(here, 0).first;
        ++last->second;
    }
    if (counts.empty()) return;
    auto most = std::max_element(counts.begin(), counts.end(), [](auto& a, auto& b) { return a.second < b.second; });
    size_ = most->second;
    if (size_ == kernels.rows) return;
    rows_.reserve(size_);
    for (Row row = 0; row < kernels.rows; ++row)
        if (key(row) == most->first) rows_.push_back(row);
}

Steps find_repeated_kernels(const Facts& facts) {
    const KernelTable& kernels = facts.trace().kernel();
    BusiestStream stream(kernels, facts.options().device);
    Period period = find_period(stream, facts.trace().strings().size());
    Steps found;
    found.note =
        "No steps found: no range is named like a step, and no kernel sequence repeats clearly; use --step-range to "
        "name a range.";
    if (period.length == 0) return found;

    std::size_t lead = lead_in(kernels, stream, period);
    LargeVector<std::size_t> begins;
    for (std::size_t marker : period.positions)
        if (marker >= lead) begins.push_back(marker - lead);
    if (begins.size() > 1) extend(stream, period.length, begins);
    if (std::size_t layers = in_one_launch(facts.trace(), stream, begins); 2 * layers > begins.size()) {
        found.note = fmt::format(
            "A sequence of {} kernels repeats {} times inside one launched CUDA graph: these are layers, not steps.",
            period.length, layers + 1);
        return found;
    }
    if (is_of_a_server(facts.trace())) {
        found.note = fmt::format(
            "A sequence of {} kernels repeats: in a server of language models these are layers, not steps, and nothing "
            "tells its steps apart; use --step-range to name a range.",
            period.length);
        return found;
    }
    // The last step has no comparable end: the wait of the device after it is unknown.
    for (std::size_t i = 0; i + 1 < begins.size(); ++i)
        found.steps.push_back(
            {fmt::format("{}", i + 1), kernels.start[stream[begins[i]]], kernels.start[stream[begins[i + 1]]]});
    if (found.steps.empty()) return found;
    found.method = StepMethod::kernels;
    StringId marker = stream.name(period.positions.front());
    if (marker != kNoString) found.family = facts.trace().text(marker);
    found.note = fmt::format(
        "Steps are a sequence of {} kernels that repeats on one stream ({:.0f} % of the kernels match); no range "
        "marks them.",
        period.length, 100 * period.same);
    return found;
}

}  // namespace gpuprof::facts
