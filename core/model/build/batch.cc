#include "core/model/build/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace gpuprof::inline model {

Batch::Batch() = default;
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

void Batch::clear() {
    tables.clear();
    strings.clear();
    losses = {};
}

void Batch::lose(Loss loss, std::string_view place, std::uint64_t count) {
    LossCount& known = losses[static_cast<std::size_t>(loss)];
    if (known.count == 0) known.place = place;
    known.count += count;
}

void Batch::lose_named(Loss loss, std::string_view place, std::string_view name, std::uint64_t count) {
    lose(loss, place, count);
    LossCount one;
    one.named.emplace(name, count);
    losses[static_cast<std::size_t>(loss)].add(one);
}

void Batch::LossCount::add(const LossCount& other) {
    constexpr std::size_t kMaxNames = 64;  // a damaged file may have a different name in every event
    if (count == 0) place = other.place;
    count += other.count;
    for (const auto& [name, times] : other.named)
        named[named.size() < kMaxNames || named.contains(name) ? name : "others"] += times;
}

std::string Batch::LossCount::text() const {
    constexpr std::size_t kShown = 12;
    std::vector<std::pair<std::uint64_t, std::string_view>> order;
    for (const auto& [name, times] : named) order.emplace_back(times, name);
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text;
    for (std::size_t i = 0; i < std::min(order.size(), kShown); ++i)
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", order[i].second, order[i].first);
    if (order.size() > kShown) text += fmt::format(", {} more kinds", order.size() - kShown);
    if (text.empty() || place.empty()) return text.empty() ? place : text;
    return place + ": " + text;
}

}  // namespace gpuprof::model
