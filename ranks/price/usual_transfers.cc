// What transfers usually take (Peers::times, equal_transfers), and what those may have waited for whose ranks are not all known.
#include <algorithm>
#include <compare>
#include <map>
#include <utility>
#include <vector>

#include "ranks/match/match.h"
#include "ranks/price/peers.h"
#include "ranks/price/quantile.h"
#include "ranks/price/replay.h"

namespace gpuprof::inline ranks {
namespace {

class UsualTransfers {
public:
    UsualTransfers(const Job& job, const MatchedJob& matched, const JobReplay& replay, Peers& peers)
        : job_(job), matched_(matched), replay_(replay), peers_(peers) {}

    // Equal transfers: of one kind, size of group and message, within a host or between hosts. Without the files of all
    // ranks, a transfer may be a wait for one of the others.
    void find() {
        std::map<Transfer, std::vector<std::uint32_t>> equal;
        for (std::uint32_t i = 0; i < matched_.instances.size(); ++i) {
            const Instance& instance = matched_.instances[i];
            if (instance.count >= 2 && instance.complete) equal[transfer_of(instance)].push_back(i);
        }
        peers_.equal_transfers.assign(matched_.instances.size(), kNone);
        std::uint32_t number = 0;
        std::map<Transfer, DurNs> usual;
        for (auto& [key, instances] : equal) {
            std::vector<DurNs> transfers;
            for (std::uint32_t i : instances) {
                transfers.push_back(recorded_transfer(i));
                peers_.equal_transfers[i] = number;
            }
            ++number;
            DurNs median = usual[key] = median_of(transfers);
            for (std::uint32_t i : instances) {
                DurNs change = median - recorded_transfer(i);
                for (std::uint32_t collective : matched_.owners(matched_.instances[i])) {
                    if (replay_.waits[collective])
                        peers_.times.transfer[collective] =
                            std::max<DurNs>(peers_.times.transfer[collective] + change, 0);
                }
            }
        }
        find_waits_for_absent(usual);
    }

private:
    struct Transfer {
        CollectiveKind kind;
        std::uint32_t ranks;
        std::int64_t bytes;
        bool between_hosts;
        auto operator<=>(const Transfer&) const = default;
    };
    Transfer transfer_of(const Instance& instance) const {
        const Job::Collective& first = job_.collectives[matched_.of(instance).front()];
        bool between = false;
        std::int64_t bytes = first.bytes;  // the most of a rank: in an all-to-all they may differ
        for (std::uint32_t collective : matched_.of(instance)) {
            between |= job_.ranks[job_.collectives[collective].rank].clock != job_.ranks[first.rank].clock;
            bytes = std::max(bytes, job_.collectives[collective].bytes);
        }
        return {first.kind, instance.count, bytes, between};
    }

    // Whether the recording of a rank of the group lacks this step, or is not there. Where nothing names the ranks of the group: of
    // any rank.
    bool lacks_ranks(std::uint32_t group, std::int64_t step) {
        auto [known, fresh] = lacking_.try_emplace({group, step}, false);
        if (!fresh) return known->second;
        auto lacks = [&](std::uint32_t rank) {
            return rank == kNone || !job_.ranks[rank].present || job_.find_step(rank, step) == nullptr;
        };
        for (std::int32_t number : job_.groups[group].ranks) known->second |= lacks(job_.find_rank(number));
        if (!job_.groups[group].ranks.empty()) return known->second;
        known->second = std::max(job_.groups[group].size, 0) > static_cast<std::int64_t>(job_.ranks.size());
        for (std::uint32_t rank = 0; rank < job_.ranks.size(); ++rank) known->second |= lacks(rank);
        return known->second;
    }
    void find_waits_for_absent(const std::map<Transfer, DurNs>& usual) {
        peers_.waits_for_absent.assign(job_.collectives.size(), 0);
        for (std::uint32_t i = 0; i < job_.collectives.size(); ++i) {
            const Job::Collective& collective = job_.collectives[i];
            std::uint32_t instance = matched_.instance_of[i];
            if (collective.group == kNone || !lacks_ranks(collective.group, collective.step)) continue;
            DurNs transfer = replay_.recorded.transfer[i], least = 0;
            if (instance != kNone) {
                Transfer key = transfer_of(matched_.instances[instance]);
                key.ranks = static_cast<std::uint32_t>(std::max(job_.groups[collective.group].size, 0));
                auto found = usual.find(key);
                if (matched_.instances[instance].complete) continue;
                if (!collective.is_pair() && found != usual.end()) least = found->second;
            }
            peers_.waits_for_absent[i] = std::max<DurNs>(transfer - least, 0);
        }
    }

    DurNs recorded_transfer(std::uint32_t instance) const {
        return least_transfer(matched_, matched_.instances[instance], replay_.recorded);
    }

    const Job& job_;
    const MatchedJob& matched_;
    const JobReplay& replay_;
    Peers& peers_;
    std::map<std::pair<std::uint32_t, std::int64_t>, bool> lacking_;  // by group and step
};

}  // namespace

void set_usual_transfers(const Job& job, const MatchedJob& matched, const JobReplay& replay, Peers& peers) {
    UsualTransfers(job, matched, replay, peers).find();
}

}  // namespace gpuprof::ranks
