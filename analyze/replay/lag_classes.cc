#include "analyze/replay/lag_classes.h"

#include <algorithm>
#include <limits>

namespace gpuprof::inline replay {
namespace {

constexpr std::size_t kMinSamples = 5;
constexpr std::size_t kMaxSamples = 8192;  // beyond this, every second, fourth, ... one is kept
constexpr std::size_t kMaxClasses = std::numeric_limits<std::uint16_t>::max();

}  // namespace

std::uint16_t LagClasses::id(EdgeKind kind, std::uint32_t first, std::uint32_t second, DurNs usual) {
    const Key key{kind, first, second};
    Recent& recent = recent_[(static_cast<std::size_t>(kind) * 31 + first * 7 + second) % recent_.size()];
    if (recent.known && recent.key == key) return recent.id;
    auto [found, created] = ids_.try_emplace(key, static_cast<std::uint16_t>(lags_.size()));
    if (created) {
        lags_.push_back({usual, 0, usual});
        samples_.emplace_back();
    }
    recent = {key, found->second, true};
    return found->second;
}

std::uint16_t LagClasses::with_extra(std::uint16_t like, DurNs extra) {
    if (lags_.size() >= kMaxClasses) return like;
    lags_.push_back({lags_[like].lag, extra, lags_[like].lag});
    return static_cast<std::uint16_t>(lags_.size() - 1);
}

void LagClasses::add_sample(std::uint16_t id, DurNs lag) {
    Samples& samples = samples_[id];
    if (samples.seen++ % samples.stride != 0) return;
    samples.values.push_back(lag);
    if (samples.values.size() < kMaxSamples) return;
    for (std::size_t i = 0; i < kMaxSamples / 2; ++i) samples.values[i] = samples.values[2 * i];
    samples.values.resize(kMaxSamples / 2);
    samples.stride *= 2;
}

void LagClasses::take_medians() {
    for (std::size_t i = 0; i < samples_.size(); ++i) {
        std::vector<DurNs>& values = samples_[i].values;
        if (values.size() < kMinSamples) continue;
        auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::nth_element(values.begin(), middle, values.end());
        lags_[i].lag = *middle;
    }
    for (LagClass& each : lags_) each.recorded = each.lag;
}

std::vector<std::uint16_t> LagClasses::between_nodes() const {
    std::vector<std::uint16_t> found;
    for (std::uint16_t id : between_kernels())
        for (const auto& [key, each] : ids_)
            if (each == id && std::get<2>(key) == kWithinGraph) found.push_back(id);
    return found;
}

std::vector<std::uint16_t> LagClasses::between_kernels() const {
    std::vector<std::uint16_t> found;
    constexpr auto copy = static_cast<std::uint32_t>(DeviceOp::memcpy);
    for (const auto& [key, id] : ids_) {
        auto [kind, first, second] = key;
        if (kind == EdgeKind::stream && first < 16 && first / 4 != copy && first % 4 != copy) found.push_back(id);
    }
    return found;
}

}  // namespace gpuprof::replay
