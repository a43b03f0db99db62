#include "io/exporters/lanes.h"

#include <algorithm>

namespace gpuprof::inline exporters {
namespace {

struct Lane {
    std::vector<PlacedSpan> spans;
    std::vector<TimeNs> open;  // ends of the spans that may enclose a later one

    bool takes(const PlacedSpan& span, Layout layout) {
        while (!open.empty() && open.back() <= span.start) open.pop_back();
        return open.empty() || (layout == Layout::nested && span.end <= open.back());
    }
};

constexpr std::size_t kMostRuns = 8;  // merging more takes as many passes as sorting

}  // namespace

void sort_outer_first(std::vector<PlacedSpan>& spans) {
    auto outer = [](const PlacedSpan& a, const PlacedSpan& b) {
        return a.start != b.start ? a.start < b.start : a.end > b.end;
    };
    // Spans of one table usually are sorted, so those of several are a few ascending runs.
    std::vector<std::ptrdiff_t> ends;
    for (std::size_t i = 1; i < spans.size() && ends.size() < kMostRuns; ++i)
        if (outer(spans[i], spans[i - 1])) ends.push_back(static_cast<std::ptrdiff_t>(i));
    if (ends.size() == kMostRuns) return std::stable_sort(spans.begin(), spans.end(), outer);
    for (std::size_t i = 0; i < ends.size(); ++i)
        std::inplace_merge(spans.begin(), spans.begin() + ends[i],
                           i + 1 < ends.size() ? spans.begin() + ends[i + 1] : spans.end(), outer);
}

std::vector<std::vector<PlacedSpan>> lay_out(std::vector<PlacedSpan> spans, Layout layout) {
    sort_outer_first(spans);
    std::vector<Lane> lanes;
    for (const PlacedSpan& span : spans) {
        auto lane = std::find_if(lanes.begin(), lanes.end(), [&](Lane& l) { return l.takes(span, layout); });
        if (lane == lanes.end()) lane = lanes.insert(lanes.end(), Lane{});
        lane->spans.push_back(span);
        lane->open.push_back(span.end);
    }
    std::vector<std::vector<PlacedSpan>> all;
    for (Lane& lane : lanes) all.push_back(std::move(lane.spans));
    return all;
}

}  // namespace gpuprof::exporters
