#include "ranks/match/collectives_of_rank.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/facts/activity.h"
#include "ranks/reduce/collective_launches.h"
#include "ranks/reduce/host_input.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline ranks {
namespace {

class Points {
public:
    Points(const Facts& facts, const RankSteps& steps) : facts_(facts), steps_(steps), calls_(facts.trace()) {}

    void add(const DeviceActivity& device, const OwnTimes& own) {
        std::size_t first = points_.size();
        const KernelTable& kernels = facts_.trace().kernel();
        for (Row row = 0; row < kernels.rows; ++row)
            if (kernels.device.value_or(row, -1) == device.device &&
                is_collective(kernels.name.value_or(row, kNoString)))
                add(row, device.device);
        find_needed_work(facts_, device.device, first, points_);
        link(device.compute(), first, [&](Interval part) { return own.within(part); });
        find_leads(facts_, own, first, points_);
    }

    // Ranges of host threads that a collective's record names.
    void add_host() {
        const CollectiveTable& records = facts_.trace().tables().collective;
        const RangeTable& ranges = facts_.trace().range();
        std::map<std::int64_t, Row> by_external;
        for (Row row = 0; row < records.rows; ++row)
            if (!records.correlation.has(row) && records.external_id.has(row))
                by_external.try_emplace(records.external_id[row], row);
        for (Row row = 0; row < ranges.rows && !by_external.empty(); ++row) {
            auto record = by_external.find(ranges.external_id.value_or(row, -1));
            if (record == by_external.end()) continue;
            RankCollective& point = points_.emplace_back();
            point.record = record->second;
            point.span = {ranges.start[row], ranges.start[row] + ranges.dur[row]};
            point.step = steps_.at(point.span.start);
            point.message = message_of(facts_.trace(), point.record);
        }
        link({}, 0, [input = host_input(facts_)](Interval part) {
            DurNs waited = length_within(input, part);
            return OwnTime{.input = waited, .host = part.length() - waited};
        });
    }
    bool empty() const { return points_.empty(); }
    LargeVector<RankCollective> take() && {
        name_kinds_by_range(facts_.trace(), points_);
        return std::move(points_);
    }

private:
    void add(Row row, std::int32_t device) {
        const KernelTable& kernels = facts_.trace().kernel();
        RankCollective& point = points_.emplace_back();
        point.kernel = row;
        point.device = device;
        point.stream = kernels.stream.value_or(row, -1);
        point.span = {kernels.start[row], kernels.start[row] + kernels.dur[row]};
        point.step = steps_.of_kernel(row);
        KernelCalls calls = calls_.of(row);
        point.record = calls.record;
        point.message = calls.message;
        point.undescribed = calls.undescribed;
        point.batch = std::move(calls.batch);
        std::string_view name = facts_.trace().text(kernels.name.value_or(row, kNoString));
        if (std::optional<CollectiveKernel> parsed = parse_collective(name);
            parsed && point.message.kind == CollectiveKind::unknown)
            point.message.kind = parsed->kind;
    }

    bool is_collective(StringId name) {
        auto [known, fresh] = collective_.try_emplace(name, false);
        if (fresh) known->second = is_collective_kernel(facts_.trace().text(name));
        return known->second;
    }

    // Points from index `first`, by start.
    template <class Own>
    void link(const IntervalSet& compute, std::size_t first, Own&& own) {
        std::vector<std::size_t> in_flight;  // points that may end before a later one begins
        std::vector<std::size_t> waits;      // that held the rank up, by end
        auto by_end = [&](TimeNs time, std::size_t other) { return time < points_[other].span.end; };
        auto ended = [&](std::size_t other) {
            TimeNs end = points_[other].span.end;
            if (held_up(compute, points_[other].span))
                waits.insert(std::upper_bound(waits.begin(), waits.end(), end, by_end), other);
        };
        for (std::size_t i = first; i < points_.size(); ++i) {
            RankCollective& point = points_[i];
            std::erase_if(in_flight, [&](std::size_t other) {
                if (points_[other].span.end > point.span.start + tolerance(points_[other], point)) return false;
                ended(other);
                return true;
            });
            if (std::optional<std::size_t> last = followed_by(point, waits)) {
                point.follows = static_cast<std::uint32_t>(i - *last);
                set_own(point, own, points_[*last].span.end);
            } else if (point.step < steps_.steps().size()) {
                set_own(point, own, steps_.steps()[point.step].window.start);
            }
            in_flight.push_back(i);
        }
        for (std::size_t other : in_flight) ended(other);
        for (std::size_t i = first; i < points_.size(); ++i) {
            TimeNs end = points_[i].span.end;
            auto later = std::lower_bound(waits.begin(), waits.end(), end, [&](std::size_t other, TimeNs time) {
                return points_[other].span.end < time;
            });
            // Of several that ended while nothing was computed, only the last one is known to be awaited.
            while (later != waits.begin() && resumes(compute, points_[later[-1]].span.end) > end) --later;
            set_wait_before(i, later == waits.begin() ? i : later[-1], own);
        }
    }
    // When the device computes again.
    static TimeNs resumes(const IntervalSet& compute, TimeNs time) {
        auto next = std::upper_bound(compute.begin(), compute.end(), time,
                                     [](TimeNs at, const Interval& each) { return at < each.end; });
        return next == compute.end() ? std::numeric_limits<TimeNs>::max() : next->start;
    }
    // Of those that held the rank up, the last one that had ended when the needed work did; or when the collective began, if it
    // began at once: both may be awaited without a kernel in between.
    std::optional<std::size_t> followed_by(const RankCollective& point, const std::vector<std::size_t>& waits) const {
        if (waits.empty()) return std::nullopt;
        TimeNs until = point.needed;
        const RankCollective& last = points_[waits.back()];
        bool at_once = point.span.start - last.span.end < kBackToBack && point.stream != last.stream && !point.queued;
        if (point.device < 0 || point.needed == point.span.start || at_once) return waits.back();
        auto later = std::upper_bound(waits.begin(), waits.end(), until,
                                      [&](TimeNs time, std::size_t other) { return time < points_[other].span.end; });
        return later == waits.begin() ? std::nullopt : std::optional(later[-1]);
    }
    template <class Own>
    static void set_own(RankCollective& point, Own&& own, TimeNs begin) {
        point.own = own({std::min(begin, point.span.start), point.span.start});
        TimeNs needed = std::clamp(point.needed, std::min(begin, point.span.start), point.span.start);
        if (point.device < 0 || needed == point.span.start) return;
        OwnTime until = own({std::min(begin, needed), needed});
        point.own.compute = until.compute;
        point.own.copy = until.copy;
    }
    // `before`: `i` if there is none.
    template <class Own>
    void set_wait_before(std::size_t i, std::size_t before, Own&& own) {
        RankCollective& point = points_[i];
        if (point.device < 0) {  // its thread waits from its start on
            point.wait_before = static_cast<std::int32_t>(point.follows);
            point.overlapped = point.own.known();
            return;
        }
        TimeNs begin = point.span.end;
        if (before != i) {
            point.wait_before = static_cast<std::int32_t>(i) - static_cast<std::int32_t>(before);
            begin = points_[before].span.end;
        } else if (point.step < steps_.steps().size()) {
            begin = steps_.steps()[point.step].window.start;
        }
        point.overlapped = own({std::min(begin, point.span.end), point.span.end}).known();
    }
    // Recorders that read the host's clock let one collective end after the next one began. On the CPU, its thread may be
    // late to note the end, while another one goes on with the next step.
    static DurNs tolerance(const RankCollective& of, const RankCollective& next) {
        DurNs half = of.span.length() / 2;
        return of.device < 0 && of.step < next.step ? half : std::min(kMostOverlap, half);
    }
    static bool held_up(const IntervalSet& compute, Interval span) {
        Interval last{std::max(span.start, span.end - kLastPart), span.end};
        return 2 * length_within(compute, last) < last.length();
    }

    const Facts& facts_;
    const RankSteps& steps_;
    CallsOfKernels calls_;
    std::map<StringId, bool> collective_;
    LargeVector<RankCollective> points_;
};

}  // namespace

LargeVector<RankCollective> collectives_of_rank(const Facts& facts, const RankSteps& steps) {
    Points points(facts, steps);
    const std::vector<DeviceActivity>& devices = facts.get<Activity>().devices;
    for (std::size_t i = 0; i < devices.size(); ++i) points.add(devices[i], facts.get<DeviceOwnTimes>().devices[i]);
    if (points.empty()) points.add_host();
    return std::move(points).take();
}

}  // namespace gpuprof::ranks
