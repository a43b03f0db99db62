#include "ranks/match/collectives_of_rank.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

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
        link(device.compute, first, [&](Interval part) { return own.within(part); });
        find_leads(facts_, own, first, points_);
        find_overlapped_compute(facts_, device, first, points_);
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
        std::map<std::int64_t, std::size_t> last_on;  // by stream
        std::vector<std::size_t> in_flight;           // points that may end before a later one begins
        std::optional<std::size_t> waited_for;
        for (std::size_t i = first; i < points_.size(); ++i) {
            RankCollective& point = points_[i];
            std::erase_if(in_flight, [&](std::size_t other) {
                if (points_[other].span.end > point.span.start + tolerance(points_[other], point)) return false;
                bool later = !waited_for || points_[other].span.end >= points_[*waited_for].span.end;
                if (later && held_up(compute, points_[other].span)) waited_for = other;
                return true;
            });
            if (waited_for) {
                point.follows = static_cast<std::uint32_t>(i - *waited_for);
                point.own = own({std::min(points_[*waited_for].span.end, point.span.start), point.span.start});
            } else if (point.step < steps_.steps().size()) {
                TimeNs begin = steps_.steps()[point.step].window.start;
                point.own = own({std::min(begin, point.span.start), point.span.start});
            }
            auto [before, none] = last_on.try_emplace(point.stream, i);
            if (!none && point.stream >= 0) {
                DurNs pause = point.span.start - points_[before->second].span.end;
                point.queued = pause >= 0 && pause < kBackToBack;
                before->second = i;
            }
            in_flight.push_back(i);
        }
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
