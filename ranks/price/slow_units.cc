#include "ranks/price/slow_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/base/text/readable.h"
#include "ranks/clocks/clocks.h"
#include "ranks/job/job.h"
#include "ranks/match/match.h"
#include "ranks/price/kernel_ratios.h"
#include "ranks/price/peers.h"
#include "ranks/price/replay.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline ranks {
namespace {

constexpr std::size_t kMostUnits = 48;

enum Part : std::size_t { part_compute, part_copy, part_input, part_host, kParts };
using Excess = std::array<double, kParts>;

double sum_of(const Excess& excess) {
    return excess[part_compute] + excess[part_copy] + excess[part_input] + excess[part_host];
}
Part largest(const Excess& excess) {
    return static_cast<Part>(std::max_element(excess.begin(), excess.end()) - excess.begin());
}

// What one rank took longer than its peers, by step.
struct RankExcess {
    std::map<std::int64_t, Excess> steps;
    Excess whole{};

    void add(std::int64_t step, const Excess& excess) {
        steps[step] = excess;
        for (std::size_t part = 0; part < kParts; ++part) whole[part] += excess[part];
    }
    std::size_t delayed(double least) const {
        return static_cast<std::size_t>(
            std::count_if(steps.begin(), steps.end(), [&](const auto& step) { return sum_of(step.second) >= least; }));
    }
};

class SlowUnits {
public:
    SlowUnits(const Facts& facts, double step_ns)
        : job_(facts.get<Job>()),
          matched_(facts.get<MatchedJob>()),
          replay_(facts.get<JobReplay>()),
          peers_(facts.get<Peers>()),
          ratios_(facts.get<KernelRatios>()),
          hosts_(facts.get<JobHosts>()),
          step_ns_(step_ns),
          steps_(std::max<std::size_t>(job_.steps.size(), 1)) {}

    std::vector<SlowUnit> find() {
        measure();
        add_hosts();
        add_ranks();
        add_passing();
        add_groups();
        if (units_.size() > kMostUnits) units_.resize(kMostUnits);
        return std::move(units_);
    }

private:
    void measure() {
        excess_.resize(job_.ranks.size());
        std::vector<RankExcess> hidden(job_.ranks.size());  // with delays of launches that the device did not feel
        for (std::uint32_t i = 0; i < job_.rank_steps.size(); ++i) {
            if (!peers_.has_peers[i]) continue;
            const OwnTime& more = peers_.excess[i];
            std::uint32_t rank = job_.rank_steps[i].rank;
            std::int64_t step = job_.rank_steps[i].step;
            Excess seen{static_cast<double>(more.compute), static_cast<double>(more.copy),
                        static_cast<double>(more.input), static_cast<double>(more.host)};
            excess_[rank].add(step, seen);
            seen[part_input] = std::max(seen[part_input], static_cast<double>(peers_.late[i].input));
            seen[part_host] = std::max(seen[part_host], static_cast<double>(peers_.late[i].host));
            hidden[rank].add(step, seen);
        }
        for (std::uint32_t rank = 0; rank < job_.ranks.size(); ++rank) {
            if (!is_slow(excess_[rank])) excess_[rank] = std::move(hidden[rank]);
            if (is_slow(excess_[rank])) slow_.insert(rank);
        }
    }
    bool is_slow(const RankExcess& excess) const {
        double mean = sum_of(excess.whole) / static_cast<double>(steps_);
        if (mean < kWorthwhile * step_ns_) return false;
        std::size_t delayed = excess.delayed(std::max(kWorthwhile * step_ns_, kOfMean * mean));
        return static_cast<double>(delayed) >= kSteady * static_cast<double>(excess.steps.size());
    }

    // Most ranks of a host, all the time: the host. The only one has none to be compared with.
    void add_hosts() {
        if (hosts_.hosts.size() < 2) return;
        for (std::uint32_t index = 0; index < hosts_.hosts.size(); ++index) {
            const JobHost& host = hosts_.hosts[index];
            if (host.ranks.size() < 2) continue;
            std::vector<std::uint32_t> members;
            std::set<Part> parts;
            for (std::uint32_t rank : host.ranks)
                if (slow_.contains(rank)) {
                    members.push_back(rank);
                    parts.insert(largest(excess_[rank].whole));
                }
            if (2 * members.size() <= host.ranks.size() || parts.size() > 1) continue;
            SlowUnit unit = unit_of(UnitKind::host, index, fmt::format("host {}", host.name), members);
            describe(unit, members);
            units_.push_back(std::move(unit));
            for (std::uint32_t rank : members) {
                slow_.erase(rank);
                of_slow_host_.insert(rank);
            }
        }
    }

    void add_ranks() {
        for (std::uint32_t rank : slow_) {
            SlowUnit unit = unit_of(UnitKind::rank, rank, fmt::format("rank {}", job_.ranks[rank].rank), {rank});
            describe(unit, {rank});
            units_.push_back(std::move(unit));
        }
    }

    // Delays that come and go: of one rank or one host they are its own; of many, a property of the program.
    void add_passing() {
        for (Part part : {part_compute, part_copy, part_input, part_host}) {
            std::map<std::uint32_t, double> times;  // by rank
            for (std::uint32_t rank = 0; rank < job_.ranks.size(); ++rank)
                if (double sum = is_explained(rank, part) ? 0 : passing(rank, part); sum > 0) times[rank] = sum;
            std::vector<std::uint32_t> ranks = with_most(times);
            if (!ranks.empty()) units_.push_back(passing_unit(part, ranks));
            for (std::uint32_t rank : ranks) times.erase(rank);
            if (times.empty()) continue;
            std::vector<std::uint32_t> rest;
            for (const auto& [rank, sum] : times) rest.push_back(rank);
            units_.push_back(passing_unit(part, rest));
        }
    }
    // The rank, else the host, that has nearly all of the delays; else all ranks.
    std::vector<std::uint32_t> with_most(const std::map<std::uint32_t, double>& times) const {
        double all = 0;
        std::map<std::uint32_t, double> by_host;
        for (const auto& [rank, sum] : times) {
            all += sum;
            by_host[hosts_.of_rank[rank]] += sum;
        }
        std::vector<std::uint32_t> ranks;
        for (const auto& [rank, sum] : times)
            if (sum >= kNearlyAllDelays * all) return {rank};
        for (const auto& [rank, sum] : times)
            if (by_host[hosts_.of_rank[rank]] >= kNearlyAllDelays * all) ranks.push_back(rank);
        if (is_host(ranks)) return ranks;
        ranks.clear();
        for (const auto& [rank, sum] : times) ranks.push_back(rank);
        return ranks;
    }
    // Whether these are most ranks of a host, and of no other.
    bool is_host(const std::vector<std::uint32_t>& ranks) const {
        if (ranks.size() < 2 || hosts_.hosts.size() < 2) return false;
        std::uint32_t host = hosts_.of_rank[ranks.front()];
        return 2 * ranks.size() > hosts_.hosts[host].ranks.size() &&
               std::all_of(ranks.begin(), ranks.end(),
                           [&](std::uint32_t rank) { return hosts_.of_rank[rank] == host; });
    }
    SlowUnit passing_unit(Part part, const std::vector<std::uint32_t>& ranks) const {
        std::uint32_t first = ranks.front(), host = hosts_.of_rank[first];
        SlowUnit unit = unit_of(UnitKind::job, 0, "changing ranks", {});
        if (ranks.size() == 1)
            unit = unit_of(UnitKind::rank, first, fmt::format("rank {}", job_.ranks[first].rank), {});
        if (is_host(ranks)) unit = unit_of(UnitKind::host, host, fmt::format("host {}", hosts_.hosts[host].name), {});
        std::set<std::int64_t> steps;
        for (std::uint32_t rank : ranks)
            for (std::uint32_t i = job_.ranks[rank].first; i < job_.ranks[rank].first + job_.ranks[rank].collectives;
                 ++i)
                if (peers_.by_peers[i] && delays(excess_in_step(i), part)) {
                    unit.own.push_back(i);
                    steps.insert(job_.collectives[i].step);
                }
        unit.unit.cause = DelayCause::pause;
        if (part == part_compute) unit.unit.cause = DelayCause::more_work;
        if (part == part_input) unit.unit.cause = DelayCause::late_data;
        if (part == part_copy) unit.unit.cause = DelayCause::copies;
        unit.unit.evidence = fmt::format("{} on {} rank{}, in {} of {} steps", words_of(part), ranks.size(),
                                         ranks.size() == 1 ? "" : "s", steps.size(), steps_);
        return unit;
    }
    // Whether a unit before has this delay of the rank.
    bool is_explained(std::uint32_t rank, Part part) const {
        return largest(excess_[rank].whole) == part && (slow_.contains(rank) || of_slow_host_.contains(rank));
    }
    double passing(std::uint32_t rank, Part part) const {
        double sum = 0;
        for (const auto& [step, excess] : excess_[rank].steps)
            if (delays(excess, part)) sum += excess[part];
        return sum;
    }
    // A step is priced as a whole, so it counts for its largest part only: beside late data, a pause has no price.
    bool delays(const Excess& in_step, Part part) const {
        return largest(in_step) == part && in_step[part] >= kDelay * step_ns_;
    }
    Excess excess_in_step(std::uint32_t collective) const {
        const auto& steps = excess_[job_.collectives[collective].rank].steps;
        auto found = steps.find(job_.collectives[collective].step);
        return found == steps.end() ? Excess{} : found->second;
    }

    SlowUnit unit_of(UnitKind kind, std::uint32_t index, std::string name,
                     const std::vector<std::uint32_t>& ranks) const {
        SlowUnit unit;
        unit.unit.kind = kind;
        unit.unit.index = index;
        unit.unit.unit = std::move(name);
        for (std::uint32_t rank : ranks)
            for (std::uint32_t i = job_.ranks[rank].first; i < job_.ranks[rank].first + job_.ranks[rank].collectives;
                 ++i)
                if (peers_.by_peers[i]) unit.own.push_back(i);
        return unit;
    }

    static std::string_view words_of(Part part) {
        switch (part) {
            case part_compute: return "more compute than peers";
            case part_copy: return "longer copies than peers";
            case part_input: return "waits for input";
            default: return "the host works or launches late";
        }
    }

    void describe(SlowUnit& unit, const std::vector<std::uint32_t>& ranks) {
        Excess whole{};
        for (std::uint32_t rank : ranks)
            for (std::size_t part = 0; part < kParts; ++part) whole[part] += excess_[rank].whole[part];
        Part part = largest(whole);
        double per_step = whole[part] / static_cast<double>(steps_ * ranks.size());
        std::string more = fmt::format("{} more per step than peers", readable_duration(per_step));
        switch (part) {
            case part_compute: return describe_compute(unit.unit, ranks, more);
            case part_input:
                unit.unit.cause = DelayCause::late_data;
                unit.unit.evidence = fmt::format("{}: {}", words_of(part), more);
                return;
            case part_copy:
                unit.unit.cause = DelayCause::copies;
                unit.unit.evidence = fmt::format("copies: {}", more);
                return;
            default:
                unit.unit.cause = DelayCause::slow_host;
                unit.unit.evidence = fmt::format("{}: {}", words_of(part), more);
        }
    }
    void describe_compute(Straggler& unit, const std::vector<std::uint32_t>& ranks, const std::string& more) const {
        double ratio = 0, slower = 1, compared = 1;
        for (std::uint32_t rank : ranks) {
            auto found = ratios_.ranks.find(job_.ranks[rank].rank);
            KernelRatio each = found == ratios_.ranks.end() ? KernelRatio{} : found->second;
            ratio = std::max(ratio, each.ratio);
            slower = std::min(slower, each.slower);
            compared = std::min(compared, each.compared);
        }
        if (compared >= kMostKernels && slower >= kMostKernels && ratio >= kSlowerKernel) {
            unit.cause = DelayCause::slow_gpu;
            unit.evidence = fmt::format("the same kernels take {:.2f} x the time of other ranks; {}", ratio, more);
        } else if (compared < kMostKernels) {
            unit.cause = DelayCause::more_work;
            unit.evidence = fmt::format("{:.0f} % of its kernel time is in grids that other ranks do not launch; {}",
                                        100 * (1 - compared), more);
        } else {
            unit.cause = ratio < kSlowerKernel ? DelayCause::more_work : DelayCause::unknown;
            unit.evidence = fmt::format("compute: {}", more);
        }
    }

    struct Transfers {
        double sum = 0;
        std::size_t count = 0;
        std::vector<std::uint32_t> collectives;
        double mean() const { return sum / static_cast<double>(count); }
    };
    // Of the means of all groups but one.
    static double median_without(const std::vector<double>& sorted, double own) {
        auto at = static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), own) - sorted.begin());
        std::size_t middle = (sorted.size() - 1) / 2;
        return sorted[middle + (middle >= at)];
    }
    // Groups whose transfers take longer than equal ones of other groups. Where there are none, nothing tells what is usual.
    void add_groups() {
        std::map<std::uint32_t, std::map<std::uint32_t, Transfers>> equals;  // by set of equal transfers, then group
        for (std::uint32_t i = 0; i < matched_.instances.size(); ++i) {
            if (peers_.equal_transfers[i] == kNone) continue;
            const Instance& instance = matched_.instances[i];
            Transfers& to = equals[peers_.equal_transfers[i]][instance.group];
            to.sum += static_cast<double>(least_transfer(matched_, instance, replay_.recorded));
            ++to.count;
            for (std::uint32_t collective : matched_.owners(instance)) to.collectives.push_back(collective);
        }
        struct Sums {
            double recorded = 0, usual = 0;
            std::vector<std::uint32_t> collectives;
        };
        std::map<std::uint32_t, Sums> groups;
        for (const auto& [set, by_group] : equals) {
            if (by_group.size() < 2) continue;
            std::vector<double> means;
            for (const auto& [index, own] : by_group) means.push_back(own.mean());
            std::sort(means.begin(), means.end());
            for (const auto& [index, own] : by_group) {
                Sums& to = groups[index];
                to.recorded += own.sum;
                to.usual += median_without(means, own.mean()) * static_cast<double>(own.count);
                to.collectives.insert(to.collectives.end(), own.collectives.begin(), own.collectives.end());
            }
        }
        for (auto& [index, sums] : groups) {
            double more = sums.recorded - sums.usual;
            if (more < kWorthwhile * step_ns_ * static_cast<double>(steps_) ||
                more < (kSlowerTransfer - 1) * sums.usual)
                continue;
            const Job::Group& group = job_.groups[index];
            SlowUnit& unit = units_.emplace_back();
            unit.unit.kind = UnitKind::group;
            unit.unit.index = index;
            unit.unit.unit = fmt::format("group {} {}", group.description, group.ranks_text);
            unit.unit.cause = DelayCause::slow_link;
            unit.unit.evidence = fmt::format("transfers take {:.2f} x the time of equal ones in other groups",
                                             sums.recorded / std::max(sums.usual, 1.0));
            unit.transfer = std::move(sums.collectives);
        }
    }

    const Job& job_;
    const MatchedJob& matched_;
    const JobReplay& replay_;
    const Peers& peers_;
    const KernelRatios& ratios_;
    const JobHosts& hosts_;
    double step_ns_;
    std::size_t steps_;
    std::vector<RankExcess> excess_;
    std::set<std::uint32_t> slow_, of_slow_host_;
    std::vector<SlowUnit> units_;
};

}  // namespace

std::vector<SlowUnit> slow_units(const Facts& facts, double step_ns) { return SlowUnits(facts, step_ns).find(); }

}  // namespace gpuprof::ranks
