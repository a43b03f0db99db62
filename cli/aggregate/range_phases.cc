// Phases of a process: the ranges of its threads (process_totals.h).
#include <algorithm>
#include <iterator>

#include "cli/aggregate/process_totals.h"

#include "core/base/text/utf8.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::size_t kMostPaths = 4096, kMostThreads = 16, kMostChanges = std::size_t{1} << 18, kMostDepth = 256;
constexpr std::size_t kMostHandles = 65'536, kMostText = 64;

}  // namespace

std::uint32_t RangePhases::name_of(std::string_view text) {
    std::string_view name = text.substr(0, text.find_last_not_of("0123456789 #") + 1);
    auto [known, added] = names_.try_emplace(printable((name.empty() ? text : name).substr(0, kMostText)),
                                             static_cast<std::uint32_t>(texts_.size()));
    if (added) texts_.push_back(known->first);
    return known->second;
}

// Beyond the bound a range is not seen.
RangePhases::Path RangePhases::inside(Path outer, std::uint32_t name) {
    std::uint64_t key = std::uint64_t{outer} << 32 | name;
    if (auto known = inner_.find(key); known != inner_.end()) return known->second;
    if (paths_.size() == kMostPaths) return outer;
    paths_.push_back({outer, name});
    return inner_[key] = static_cast<Path>(paths_.size() - 1);
}

void RangePhases::add(std::uint32_t thread, const spool::HostEvent& event, std::string_view text) {
    using spool::HostEventOp;
    if (event.op == HostEventOp::string_name) {
        if (registered_.size() < kMostHandles && texts_.size() < kMostPaths) registered_[event.range] = name_of(text);
        return;
    }
    if (event.op != HostEventOp::push && event.op != HostEventOp::pop) return;
    auto own = threads_.find(thread);
    if (own == threads_.end()) {
        if (threads_.size() == kMostThreads && !forget_a_thread()) return;
        own = threads_.try_emplace(thread).first;
        own->second.complete = !interrupted_;
    }
    Thread& at = own->second;
    Path before = at.open.empty() ? 0 : at.open.back().second;
    if (event.op == HostEventOp::push) {
        auto known = registered_.find(event.text);
        bool named =
            event.text_kind == spool::TextKind::registered ? known != registered_.end() : texts_.size() < kMostPaths;
        Path now = before;
        if (named) now = inside(before, event.text_kind == spool::TextKind::registered ? known->second : name_of(text));
        if (at.open.size() == kMostDepth) return;
        at.open.emplace_back(event.domain, now);
    } else {
        auto of_domain = std::find_if(at.open.rbegin(), at.open.rend(),
                                      [&](const auto& each) { return each.first == event.domain; });
        if (of_domain == at.open.rend()) return;
        at.open.erase(std::next(of_domain).base());
    }
    Path now = at.open.empty() ? 0 : at.open.back().second;
    if (now == before) return;
    if (changes_ >= kMostChanges && !at.changes.empty()) {
        at.changes.pop_front();
        at.complete = false;
    } else {
        ++changes_;
    }
    at.changes.emplace_back(static_cast<TimeNs>(event.time), now);
}

// The one that has no range open and had none for the longest time.
bool RangePhases::forget_a_thread() {
    auto oldest = threads_.end();
    for (auto each = threads_.begin(); each != threads_.end(); ++each) {
        if (!each->second.open.empty() || each->second.changes.empty()) continue;
        if (oldest == threads_.end() || each->second.changes.back().first < oldest->second.changes.back().first)
            oldest = each;
    }
    if (oldest == threads_.end()) return false;
    changes_ -= oldest->second.changes.size();
    threads_.erase(oldest);
    return true;
}

void RangePhases::interrupt() {
    interrupted_ = !threads_.empty() || interrupted_;
    threads_.clear();
    changes_ = 0;
}

std::uint8_t RangePhases::at(std::uint32_t thread, TimeNs time, RankTotals& of) {
    auto own = threads_.find(thread);
    if (own == threads_.end()) {
        bool unseen = interrupted_ || threads_.size() == kMostThreads;
        return unseen ? RankTotals::kUnknownPhase : RankTotals::kNoPhase;
    }
    const auto& changes = own->second.changes;
    auto after = std::upper_bound(changes.begin(), changes.end(), time,
                                  [](TimeNs at, const auto& change) { return at < change.first; });
    if (after == changes.begin()) return own->second.complete ? RankTotals::kNoPhase : RankTotals::kUnknownPhase;
    Path path = std::prev(after)->second;
    if (path == 0) return interrupted_ ? RankTotals::kUnknownPhase : RankTotals::kNoPhase;
    std::uint8_t& phase = paths_[path].phase;
    if (phase != kNotResolved) return phase;
    phase = of.phase(texts_[paths_[path].name], true);
    for (Path outer = paths_[path].outer; outer != 0 && phase == RankTotals::kOtherPhase; outer = paths_[outer].outer)
        phase = of.phase(texts_[paths_[outer].name], false);
    return phase;
}

}  // namespace gpuprof::cli
