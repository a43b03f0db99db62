#include "collect/device/slices.h"

#include <algorithm>

namespace gpuprof {

void Slices::add(TimeNs time, double value) {
    if (!any_) origin_ = time;
    any_ = true;
    std::size_t at = 0;
    while ((at = time <= origin_ ? 0 : static_cast<std::size_t>((time - origin_) / width_)) >= 2 * kBins) halve();
    if (at >= parts_.size()) parts_.resize(at + 1);
    parts_[at].sum += value;
    ++parts_[at].count;
}

void Slices::halve() {
    std::vector<Part> merged((parts_.size() + 1) / 2);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        merged[i / 2].sum += parts_[i].sum;
        merged[i / 2].count += parts_[i].count;
    }
    parts_ = std::move(merged);
    width_ *= 2;
}

std::vector<std::optional<double>> Slices::means() const {
    std::size_t group = parts_.size() > kBins ? 2 : 1;
    std::vector<std::optional<double>> means;
    for (std::size_t begin = 0; begin < parts_.size(); begin += group) {
        Part part;
        for (std::size_t i = begin; i < std::min(begin + group, parts_.size()); ++i) {
            part.sum += parts_[i].sum;
            part.count += parts_[i].count;
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

}  // namespace gpuprof
