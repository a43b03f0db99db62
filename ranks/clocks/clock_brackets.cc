#include "ranks/clocks/clock_brackets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "ranks/price/quantile.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline ranks {
namespace {

// From one side: what a clock shows more than another one is at most `value`.
struct Bound {
    double value = std::numeric_limits<double>::infinity(), time = 0;
    void tighten(double other, double at) {
        if (other < value) {
            value = other;
            time = at;
        }
    }
};
struct Bounds {
    Bound upper, lower;  // `lower` is of the negative difference
};

class Brackets {
public:
    Brackets(const Job& job, const MatchedJob& matched, TimeNs middle) : job_(job), matched_(matched), middle_(middle) {
        for (const Instance& instance : matched.instances) {
            if (!instance.exchange) continue;
            const Job::Collective& collective = job.collectives[matched.of(instance).front()];
            auto [known, fresh] = shortest_.try_emplace(shape_of(collective), collective.span.length());
            if (!fresh) known->second = std::min(known->second, collective.span.length());
        }
    }

    std::vector<ClockBracket> find(const std::vector<std::uint32_t>& islands) {
        for (const Instance& instance : matched_.instances) {
            if (!instance.exchange) continue;
            std::uint32_t sender = matched_.of(instance).front();
            for (std::uint32_t receiver : matched_.of(instance).subspan(1))
                if (islands[clock_of(sender)] != islands[clock_of(receiver)] && sends_to(sender, receiver))
                    bound(sender, receiver);
        }
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<ClockBracket>> by_ranks;
        for (const auto& [key, bounds] : bounds_) {
            const auto& [a, b, step] = key;
            double slack = std::abs(bounds.upper.value + bounds.lower.value) / 2;
            if (!(slack <= kMostSlackNs)) continue;  // nor without one of them
            by_ranks[{a, b}].push_back({job_.ranks[a].clock, job_.ranks[b].clock,
                                        (bounds.upper.time + bounds.lower.time) / 2,
                                        (bounds.upper.value - bounds.lower.value) / 2, slack});
        }
        std::vector<ClockBracket> found;
        for (const auto& [ranks, brackets] : by_ranks) {
            std::vector<double> slacks;
            for (const ClockBracket& each : brackets) slacks.push_back(each.slack);
            double most = kMostOfUsual * median_of(std::move(slacks));
            for (const ClockBracket& each : brackets)
                if (each.slack <= most) found.push_back(each);
        }
        return found;
    }

private:
    using Shape = std::pair<std::uint32_t, std::int64_t>;
    static Shape shape_of(const Job::Collective& collective) { return {collective.transfers, collective.bytes}; }
    std::uint32_t clock_of(std::uint32_t collective) const {
        return job_.ranks[job_.collectives[collective].rank].clock;
    }

    // A small message may be sent before the receiver arrives, so a sender's end says nothing.
    bool sends_to(std::uint32_t sender, std::uint32_t receiver) const {
        std::span<const Job::Transfer> transfers = job_.transfers_of(job_.collectives[sender]);
        std::int32_t from = job_.ranks[job_.collectives[sender].rank].rank,
                     to = job_.ranks[job_.collectives[receiver].rank].rank;
        return std::any_of(transfers.begin(), transfers.end(), [&](const Job::Transfer& transfer) {
            return transfer.from_rank == from && transfer.to_rank == to;
        });
    }

    void bound(std::uint32_t sender, std::uint32_t receiver) {
        const Job::Collective &from = job_.collectives[sender], &to = job_.collectives[receiver];
        // No kernel of this shape took less.
        DurNs transfer = std::min(shortest_.at(shape_of(from)), shortest_.at(shape_of(to)));
        auto most = static_cast<double>(to.span.end - from.span.start - transfer);
        bool ascending = from.rank < to.rank;
        Bounds& bounds = bounds_[{std::min(from.rank, to.rank), std::max(from.rank, to.rank), from.step}];
        (ascending ? bounds.upper : bounds.lower)
            .tighten(most, static_cast<double>((ascending ? from.span.start : to.span.end) - middle_));
    }

    const Job& job_;
    const MatchedJob& matched_;
    TimeNs middle_;
    std::map<Shape, DurNs> shortest_;                                                  // time of a kernel
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, Bounds> bounds_;  // by two ranks and step
};

}  // namespace

std::vector<ClockBracket> clock_brackets(const Job& job, const MatchedJob& matched,
                                         const std::vector<std::uint32_t>& islands, TimeNs middle) {
    return Brackets(job, matched, middle).find(islands);
}

}  // namespace gpuprof::ranks
