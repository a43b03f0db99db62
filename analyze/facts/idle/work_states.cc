#include "analyze/facts/idle/work_states.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <unordered_map>

#include "analyze/facts/facts.h"
#include "analyze/knowledge/kernel_class.h"
#include "core/base/ids.h"

namespace gpuprof::inline facts {
namespace {

constexpr std::size_t kCheckpoint = 256;  // stretches
constexpr std::size_t kMaxStates = 14;    // idle and "everything else" included
constexpr double kMinStateShare = 0.003;  // of the time in work

constexpr std::uint32_t kMemcpy = 30, kMemset = 31;  // bits above those of kernel classes
static_assert(static_cast<unsigned>(KernelClass::triton) < kMemcpy);

std::string name_of_set(std::uint32_t set) {
    if (set == 0) return "idle";
    std::string name;
    for (std::uint32_t bit = 0; bit < 32; ++bit) {
        if ((set >> bit & 1u) == 0) continue;
        if (!name.empty()) name += " + ";
        if (bit == kMemcpy)
            name += "memcpy";
        else if (bit == kMemset)
            name += "memset";
        else
            name += to_string(static_cast<KernelClass>(bit));
    }
    return name;
}

class ClassOfKernel {
public:
    explicit ClassOfKernel(const Trace& trace) : trace_(trace) {}
    std::uint32_t operator()(Row row) {
        StringId name = trace_.kernel().name.value_or(row, kNoString);
        auto [known, added] = known_.try_emplace(index_of(name), 0);
        if (added)
            known->second = name == kNoString ? 0 : static_cast<std::uint32_t>(classify_kernel(trace_.text(name)).kind);
        return known->second;
    }

private:
    const Trace& trace_;
    std::unordered_map<std::uint32_t, std::uint32_t> known_;
};

}  // namespace

WorkStates::WorkStates(const Facts& facts, std::int32_t device) : window_(facts.trace().window()) {
    const Trace& trace = facts.trace();
    ClassOfKernel class_of(trace);
    std::uint32_t running[32] = {}, set = 0;
    using End = std::pair<TimeNs, std::uint32_t>;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends;
    append(window_.start, 0);
    auto end_until = [&](TimeNs time) {
        while (!ends.empty() && ends.top().first <= time) {
            auto [at, bit] = ends.top();
            ends.pop();
            if (--running[bit] == 0) append(at, set &= ~(1u << bit));
        }
    };
    DeviceOps ops(trace, device);
    while (ops.next()) {
        if (ops.span().length() <= 0) continue;
        end_until(ops.span().start);
        std::uint32_t bit = ops.kind() == DeviceOp::memcpy ? kMemcpy : kMemset;
        if (ops.kind() == DeviceOp::kernel) bit = class_of(ops.row());
        if (running[bit]++ == 0) append(ops.span().start, set |= 1u << bit);
        ends.emplace(ops.span().end, bit);
    }
    end_until(INT64_MAX);
    name_states();
}

// The last stretch at one time wins; equal neighbours are one.
void WorkStates::append(TimeNs start, std::uint32_t set) {
    if (!stretches_.empty() && stretches_.back().start >= start) stretches_.pop_back();
    if (!stretches_.empty() && stretches_.back().state == set) return;
    stretches_.push_back({start, set});
}

// Replaces sets by the numbers of states: idle, then by time, then what takes little.
void WorkStates::name_states() {
    std::map<std::uint32_t, DurNs> length;
    DurNs work = 0;
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
        TimeNs end = i + 1 < stretches_.size() ? stretches_[i + 1].start : window_.end;
        length[stretches_[i].state] += end - stretches_[i].start;
        if (stretches_[i].state != 0) work += end - stretches_[i].start;
    }
    std::vector<std::pair<DurNs, std::uint32_t>> order;
    for (auto [set, dur] : length)
        if (set != 0) order.emplace_back(dur, set);
    std::sort(order.begin(), order.end(),
              [](auto& a, auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
    std::map<std::uint32_t, std::uint32_t> number{{0u, 0u}};
    names_ = {"idle"};
    std::uint32_t other = 0;
    for (auto [dur, set] : order) {
        bool kept = other == 0 && names_.size() + 1 < kMaxStates &&
                    static_cast<double>(dur) >= kMinStateShare * static_cast<double>(work);
        if (!kept && other == 0) {
            other = static_cast<std::uint32_t>(names_.size());
            names_.emplace_back("");
        }
        if (kept) names_.push_back(name_of_set(set));
        number[set] = kept ? static_cast<std::uint32_t>(names_.size() - 1) : other;
    }
    if (other != 0) names_[other] = "everything else";
    counts_.assign(names_.size(), 0);
    std::vector<double> sums(names_.size(), 0);
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
        if (i % kCheckpoint == 0) totals_.insert(totals_.end(), sums.begin(), sums.end());
        Stretch& stretch = stretches_[i];
        stretch.state = number.at(stretch.state);
        ++counts_[stretch.state];
        TimeNs end = i + 1 < stretches_.size() ? stretches_[i + 1].start : window_.end;
        sums[stretch.state] += static_cast<double>(end - stretch.start) / kNsPerSecond;
    }
}

void WorkStates::add_until(TimeNs at, double sign, std::vector<double>& to) const {
    auto after = std::upper_bound(stretches_.begin(), stretches_.end(), at,
                                  [](TimeNs time, const Stretch& stretch) { return time < stretch.start; });
    if (after == stretches_.begin()) return;
    auto last = static_cast<std::size_t>(after - stretches_.begin()) - 1, first = last / kCheckpoint * kCheckpoint;
    for (std::size_t state = 0; state < size(); ++state)
        to[state] += sign * totals_[first / kCheckpoint * size() + state];
    for (std::size_t i = first; i <= last; ++i) {
        TimeNs end = i < last ? stretches_[i + 1].start : at;
        to[stretches_[i].state] += sign * static_cast<double>(end - stretches_[i].start) / kNsPerSecond;
    }
}

void WorkStates::add_seconds(Interval within, std::vector<double>& to) const {
    TimeNs start = std::max(within.start, window_.start), end = std::min(within.end, window_.end);
    if (start >= end) return;
    // Short intervals, which are most, lie in one stretch or a few.
    auto after = std::upper_bound(stretches_.begin(), stretches_.end(), start,
                                  [](TimeNs time, const Stretch& stretch) { return time < stretch.start; });
    auto at = static_cast<std::size_t>(after - stretches_.begin()) - 1;
    for (std::size_t i = at; i < std::min(at + kCheckpoint / 8, stretches_.size()); ++i) {
        TimeNs until = i + 1 < stretches_.size() ? stretches_[i + 1].start : window_.end;
        if (until < end) continue;
        for (std::size_t k = at; k <= i; ++k) {
            TimeNs from = std::max(start, stretches_[k].start), to_time = k < i ? stretches_[k + 1].start : end;
            to[stretches_[k].state] += static_cast<double>(to_time - from) / kNsPerSecond;
        }
        return;
    }
    add_until(end, 1, to);
    add_until(start, -1, to);
}

std::vector<double> WorkStates::seconds_in(Interval within) const {
    std::vector<double> seconds(size(), 0);
    add_seconds(within, seconds);
    return seconds;
}

}  // namespace gpuprof::facts
