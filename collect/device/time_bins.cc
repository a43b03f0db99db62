#include "collect/device/time_bins.h"

#include <algorithm>

namespace gpuprof::inline device {

void TimeBins::add(TimeNs time, double value) {
    if (!any_) origin_ = time;
    any_ = true;
    std::size_t at = 0;
    while ((at = time <= origin_ ? 0 : static_cast<std::size_t>((time - origin_) / width_)) >= 2 * kBins) halve();
    if (at >= bins_.size()) bins_.resize(at + 1);
    bins_[at].sum += value;
    ++bins_[at].count;
}

void TimeBins::halve() {
    std::vector<Bin> merged((bins_.size() + 1) / 2);
    for (std::size_t i = 0; i < bins_.size(); ++i) {
        merged[i / 2].sum += bins_[i].sum;
        merged[i / 2].count += bins_[i].count;
    }
    bins_ = std::move(merged);
    width_ *= 2;
}

std::vector<std::optional<double>> TimeBins::means() const {
    std::size_t group = bins_.size() > kBins ? 2 : 1;
    std::vector<std::optional<double>> means;
    for (std::size_t begin = 0; begin < bins_.size(); begin += group) {
        Bin part;
        for (std::size_t i = begin; i < std::min(begin + group, bins_.size()); ++i) {
            part.sum += bins_[i].sum;
            part.count += bins_[i].count;
        }
        means.push_back(part.count > 0 ? std::optional(part.sum / static_cast<double>(part.count)) : std::nullopt);
    }
    return means;
}

std::string sparkline(const std::vector<std::optional<double>>& means) {
    static constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    std::string text;
    for (const std::optional<double>& mean : means)
        text += mean ? kBlocks[std::clamp(static_cast<int>(*mean / 12.5), 0, 7)] : " ";
    return text;
}

}  // namespace gpuprof::device
