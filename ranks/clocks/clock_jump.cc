#include "ranks/clocks/clock_jump.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "ranks/price/quantile.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline ranks {
namespace {

// The slope of the leads on both sides of a split: least squares, each side about its own mean.
double common_rate(const std::vector<ClockLead>& leads, std::size_t split) {
    double product = 0, square = 0;
    for (auto [begin, end] : {std::pair(std::size_t{0}, split), std::pair(split, leads.size())}) {
        double time = 0, lead = 0;
        auto count = static_cast<double>(end - begin);
        for (std::size_t i = begin; i < end; ++i) {
            time += leads[i].time / count;
            lead += leads[i].lead / count;
        }
        for (std::size_t i = begin; i < end; ++i) {
            product += (leads[i].time - time) * (leads[i].lead - lead);
            square += (leads[i].time - time) * (leads[i].time - time);
        }
    }
    return square > 0 ? product / square : 0;
}

// The median lead of [begin, end) without the rate, and the median distance from it.
struct Side {
    double lead, spread;

    Side(const std::vector<ClockLead>& leads, double rate, std::size_t begin, std::size_t end) {
        std::vector<double> values;
        for (std::size_t i = begin; i < end; ++i) values.push_back(leads[i].lead - rate * leads[i].time);
        lead = median_of(values);
        for (double& value : values) value = std::abs(value - lead);
        spread = median_of(std::move(values));
    }
};

}  // namespace

std::optional<ClockJump> find_jump(std::vector<ClockLead>& leads) {
    if (leads.size() < 2 * kFewestLeads) return std::nullopt;
    std::sort(leads.begin(), leads.end(), [](const ClockLead& a, const ClockLead& b) { return a.time < b.time; });
    double all = 0;
    for (const ClockLead& lead : leads) all += lead.lead;
    // Where two means describe the leads best.
    std::size_t split = 0;
    double best = 0, left = 0;
    auto count = static_cast<double>(leads.size());
    for (std::size_t i = 0; i + kFewestLeads < leads.size(); ++i) {
        left += leads[i].lead;
        auto on_left = static_cast<double>(i + 1);
        double difference = left / on_left - (all - left) / (count - on_left);
        double gain = difference * difference * on_left * (count - on_left);
        if (i + 1 >= kFewestLeads && gain > best) {
            best = gain;
            split = i + 1;
        }
    }
    if (split == 0) return std::nullopt;
    double rate = common_rate(leads, split);
    Side before(leads, rate, 0, split), after(leads, rate, split, leads.size());
    double size = after.lead - before.lead;
    if (std::abs(size) < kClearJump * (before.spread + after.spread)) return std::nullopt;
    return ClockJump{(leads[split - 1].time + leads[split].time) / 2, size};
}

}  // namespace gpuprof::ranks
