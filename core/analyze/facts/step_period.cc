// Steps without any annotation: a sequence of kernels that repeats on the busiest stream.
// A kernel that comes rarely and at equal distances marks the period; the period holds when the kernels one period apart
// have the same name nearly everywhere. Of several markers the rarest wins, since an iteration contains every shorter
// repetition inside it. A step begins where the device waits longest within the period. Whole periods before the first and
// behind the last marker are steps, too.
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "core/analyze/facts/step_finder.h"

namespace gpuprof {
namespace {

constexpr std::size_t kShortest = 16;  // kernels of a period; shorter ones are as likely a pattern inside an iteration
constexpr std::size_t kRepeats = 3;    // at least
constexpr std::size_t kMarkersTried = 64;
constexpr std::size_t kMarkersPerStep = 4;  // times that a marker may come in one period
constexpr double kRegular = 0.8;            // share of a marker's distances that equal the period
constexpr std::size_t kSteady = 50;         // percent of the kernels in which it repeats, at least: start-up has others
constexpr double kSame = 0.9;               // share of kernels that equal the one a period later

struct Period {
    std::size_t length = 0;              // kernels
    double same = 0;                     // share of kernels that equal the one a period later
    std::vector<std::size_t> positions;  // of the marker, one per period
};

// Share of kernels, from the first marker to the last, that equal the one a period later.
double sameness(const std::vector<StringId>& names, const Period& period) {
    std::size_t same = 0, first = period.positions.front(), last = period.positions.back();
    for (std::size_t i = first; i + period.length < last; ++i) same += names[i] == names[i + period.length];
    return static_cast<double>(same) / static_cast<double>(last - first - period.length);
}

// The longest stretch of distances that are `wanted`, but for kRegular: what is before and behind it is start-up and end.
std::pair<std::size_t, std::size_t> steady_stretch(const std::vector<std::size_t>& distances, std::size_t wanted) {
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

// The period of a marker that comes `per_step` times in each; length 0 when its distances are not regular over half of the
// kernels.
Period period_of(const std::vector<std::size_t>& positions, std::size_t per_step, std::size_t kernels) {
    if (positions.size() < kRepeats * per_step) return {};
    std::vector<std::size_t> distances;
    for (std::size_t i = 0; i + per_step < positions.size(); ++i)
        distances.push_back(positions[i + per_step] - positions[i]);
    std::vector<std::size_t> sorted = distances;
    auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    auto [begin, end] = steady_stretch(distances, *middle);
    if (*middle < kShortest || end - begin + per_step < kRepeats * per_step) return {};
    Period period{*middle, 0, {}};
    for (std::size_t i = begin; i < end + per_step; i += per_step) period.positions.push_back(positions[i]);
    std::size_t covered = period.positions.back() - period.positions.front() + period.length;
    return period.positions.size() >= kRepeats && covered >= kSteady * kernels / 100 ? period : Period{};
}

Period find_period(const std::vector<StringId>& names) {
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> positions;
    for (std::size_t i = 0; i < names.size(); ++i) positions[index_of(names[i])].push_back(i);
    std::vector<const std::vector<std::size_t>*> markers;
    for (auto& [name, at] : positions)
        if (at.size() >= kRepeats && at.size() * kShortest <= names.size() * kMarkersPerStep) markers.push_back(&at);
    std::sort(markers.begin(), markers.end(), [](auto* a, auto* b) {
        return a->size() != b->size() ? a->size() < b->size() : a->front() < b->front();
    });
    if (markers.size() > kMarkersTried) markers.resize(kMarkersTried);
    for (const auto* at : markers)
        for (std::size_t per_step = 1; per_step <= kMarkersPerStep; ++per_step) {
            Period period = period_of(*at, per_step, names.size());
            if (period.length == 0) continue;
            period.same = sameness(names, period);
            if (period.same >= kSame) return period;
        }
    return {};
}

// How many kernels before the marker the device waits longest, summed over the periods.
std::size_t lead_in(const KernelTable& kernels, const std::vector<Row>& rows, const Period& period) {
    std::vector<double> waited(period.length, 0);
    for (std::size_t marker : period.positions)
        for (std::size_t back = 0; back < period.length && back < marker; ++back) {
            Row row = rows[marker - back], before = rows[marker - back - 1];
            waited[back] += static_cast<double>(
                std::max<DurNs>(0, kernels.start[row] - kernels.start[before] - kernels.dur[before]));
        }
    return static_cast<std::size_t>(std::max_element(waited.begin(), waited.end()) - waited.begin());
}

// Steps before the first and behind the last marker: what is one period away from a step and the same is one, too.
void extend(const std::vector<StringId>& names, std::size_t length, std::vector<std::size_t>& begins) {
    auto alike = [&](std::size_t begin, std::size_t other) {
        std::size_t same = 0;
        for (std::size_t i = 0; i < length; ++i) same += names[begin + i] == names[other + i];
        return names[begin] == names[other] && static_cast<double>(same) >= kSame * static_cast<double>(length);
    };
    while (begins.front() >= length && begins.front() + length <= names.size() &&
           alike(begins.front() - length, begins.front()))
        begins.insert(begins.begin(), begins.front() - length);
    while (begins.back() >= length && begins.back() + length < names.size() &&
           alike(begins.back(), begins.back() - length) && names[begins.back() + length] == names[begins.back()])
        begins.push_back(begins.back() + length);
}

}  // namespace

std::vector<Row> kernels_of_busiest_stream(const KernelTable& kernels, std::int64_t only_device) {
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
    if (counts.empty()) return {};
    auto most = std::max_element(counts.begin(), counts.end(), [](auto& a, auto& b) { return a.second < b.second; });
    std::vector<Row> rows;
    rows.reserve(most->second);
    for (Row row = 0; row < kernels.rows; ++row)
        if (key(row) == most->first) rows.push_back(row);
    return rows;
}

Steps find_repeated_kernels(const Facts& facts) {
    const KernelTable& kernels = facts.trace().kernel();
    std::vector<Row> rows = kernels_of_busiest_stream(kernels, facts.options().device);
    std::vector<StringId> names;
    names.reserve(rows.size());
    for (Row row : rows) names.push_back(kernels.name.value_or(row, kNoString));
    Period period = find_period(names);
    Steps found;
    found.note =
        "No steps were found: no range is named like one, and no sequence of kernels repeats clearly. --step-range "
        "names a range.";
    if (period.length == 0) return found;

    std::size_t lead = lead_in(kernels, rows, period);
    std::vector<std::size_t> begins;
    for (std::size_t marker : period.positions)
        if (marker >= lead) begins.push_back(marker - lead);
    if (begins.size() > 1) extend(names, period.length, begins);
    // The last one has no end that compares with the others': nothing says how long the device would have waited after it.
    for (std::size_t i = 0; i + 1 < begins.size(); ++i)
        found.steps.push_back(
            {fmt::format("{}", i + 1), kernels.start[rows[begins[i]]], kernels.start[rows[begins[i + 1]]]});
    if (found.steps.empty()) return found;
    found.method = StepMethod::kernels;
    StringId marker = names[period.positions.front()];
    if (marker != kNoString) found.family = facts.trace().text(marker);
    found.note = fmt::format(
        "Steps are a sequence of {} kernels that repeats on one stream ({:.0f} % of the kernels fit); no range "
        "names them.",
        period.length, 100 * period.same);
    return found;
}

}  // namespace gpuprof
