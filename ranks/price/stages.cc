#include "ranks/price/stages.h"

#include <algorithm>
#include <map>

#include "analyze/facts/facts.h"
#include "core/base/text/ascii.h"
#include "ranks/price/quantile.h"
#include "ranks/price/rank_waits.h"
#include "ranks/price/replay.h"

namespace gpuprof::inline ranks {
namespace {

// By what frameworks call the group of ranks that form a pipeline: Megatron's PIPELINE_MODEL_PARALLEL_GROUP, torchtitan's and
// DeepSpeed's mesh_pp, pp, pipe_parallel ...
bool names_pipeline(std::string_view description) {
    std::string word;
    for (std::size_t i = 0; i <= description.size(); ++i) {
        if (i < description.size() && is_letter(description[i])) {
            word += to_lower(description[i]);
            continue;
        }
        if (word == "pp" || word == "pipe" || word == "pipeline") return true;
        word.clear();
    }
    return false;
}

// The place of a rank in its group; the group's size if it is not there.
std::uint32_t place_in(const Job::Group& group, std::int32_t rank) {
    return static_cast<std::uint32_t>(std::find(group.ranks.begin(), group.ranks.end(), rank) - group.ranks.begin());
}

// Whether the places of its ranks say that a group is a pipeline. Servers send activations forth, and no gradients back.
bool stages_in_order(const Job& job, const Job::Group& group) {
    for (std::size_t i = 0; i < group.ranks.size(); ++i) {
        std::uint32_t rank = job.find_rank(group.ranks[i]);
        if (rank == kNone || job.ranks[rank].stage != static_cast<std::int32_t>(i)) return false;
    }
    return group.ranks.size() > 1;
}

// What the transfers of a group look like.
struct Traffic {
    bool forth = false, back = false, others = false;
    bool first_to_last = false, last_to_first = false;

    // Both ways between neighbours and not around: rings of attention go one way and around.
    bool is_pipeline(const Job& job, const Job::Group& group) const {
        if (forth && !others && stages_in_order(job, group)) return true;
        if (names_pipeline(group.description)) return forth && back && !others;
        return group.ranks.size() > 2 && forth && back && !first_to_last && !last_to_first && !others;
    }
    bool is_ring(const Job::Group& group) const {
        if (names_pipeline(group.description) || group.ranks.size() < 3 || others) return false;
        return forth ? last_to_first && !back && !first_to_last : back && first_to_last && !last_to_first;
    }
};

std::map<std::uint32_t, Traffic> traffic_of(const Job& job) {
    std::map<std::uint32_t, Traffic> found;
    for (const Job::Collective& collective : job.collectives) {
        if (!collective.is_pair() || collective.group == kNone) continue;
        const Job::Group& group = job.groups[collective.group];
        auto size = static_cast<std::uint32_t>(group.ranks.size());
        for (const Job::Transfer& transfer : job.transfers_of(collective)) {
            std::uint32_t from = place_in(group, transfer.from_rank), to = place_in(group, transfer.to_rank);
            if (size < 2 || from >= size || to >= size) continue;
            Traffic& traffic = found[collective.group];
            if (to == from + 1)
                traffic.forth = true;
            else if (from == to + 1)
                traffic.back = true;
            else if (from == 0 && to == size - 1)
                traffic.first_to_last = true;
            else if (to == 0 && from == size - 1)
                traffic.last_to_first = true;
            else
                traffic.others = true;
        }
    }
    return found;
}

// Compute of each stage's ranks, by step. The median of a stage is its share of the model; its mean would also have the
// delays of slow ranks.
using Computed = std::map<std::int64_t, std::vector<double>>;

Computed computed_by(const Job& job, const JobStages& stages) {
    std::map<std::int64_t, std::vector<std::vector<double>>> values;
    for (const Job::RankStep& step : job.rank_steps) {
        std::uint32_t stage = stages.of_rank[step.rank];
        if (stage == kNone) continue;
        auto& of_step = values[step.step];
        of_step.resize(stages.count);
        of_step[stage].push_back(static_cast<double>(step.own.compute));
    }
    Computed found;
    for (auto& [step, by_stage] : values) {
        std::vector<double> medians;
        for (std::vector<double>& stage : by_stage) medians.push_back(median_of(std::move(stage)));
        // A step that some stage did not record says nothing.
        if (std::find(medians.begin(), medians.end(), 0.0) == medians.end()) found[step] = std::move(medians);
    }
    return found;
}

}  // namespace

double JobStages::bubble() const {
    double batches = micro_batches();
    if (count < 2 || batches <= 0) return 0;
    return (count - 1) / (sends + count - 1);
}

JobStages JobStages::make(const Facts& facts) {
    const Job& job = facts.get<Job>();
    JobStages found;
    found.of_rank.assign(job.ranks.size(), kNone);
    found.ring.assign(job.groups.size(), false);
    std::vector<bool> pipeline(job.groups.size(), false);
    bool two_kinds = false;  // of pipelines
    for (const auto& [number, traffic] : traffic_of(job)) {
        const Job::Group& group = job.groups[number];
        auto size = static_cast<std::uint32_t>(group.ranks.size());
        found.ring[number] = traffic.is_ring(group);
        if (!traffic.is_pipeline(job, group)) continue;
        two_kinds |= found.count > 0 && found.count != size;
        found.count = size;
        pipeline[number] = true;
        for (std::uint32_t stage = 0; stage < size; ++stage)
            if (std::uint32_t rank = job.find_rank(group.ranks[stage]); rank != kNone) found.of_rank[rank] = stage;
    }
    if (two_kinds) {
        found.count = 0;
        return found;
    }
    std::map<std::pair<std::uint32_t, std::int64_t>, std::pair<std::int64_t, std::int64_t>> sent;  // by rank and step
    for (const Job::Collective& collective : job.collectives) {
        if (!collective.is_pair() || collective.group == kNone || !pipeline[collective.group]) continue;
        const Job::Group& group = job.groups[collective.group];
        if (job.ranks[collective.rank].rank != group.ranks.front()) continue;
        for (const Job::Transfer& transfer : job.transfers_of(collective)) {
            if (transfer.from_rank != group.ranks.front()) continue;
            std::uint32_t to = place_in(group, transfer.to_rank);
            auto& [forth, around] = sent[{collective.rank, collective.step}];
            forth += to == 1;
            around += to > 1 && to + 1 == found.count;
        }
    }
    std::vector<double> forth, around;
    for (const auto& [key, counts] : sent) {
        forth.push_back(static_cast<double>(counts.first));
        around.push_back(static_cast<double>(counts.second));
    }
    found.sends = median_of(forth);
    found.wraps = median_of(around);
    return found;
}

double StagePrice::mean_compute() const {
    double sum = 0;
    for (const StageTimes& stage : stages) sum += stage.compute_ns;
    return stages.empty() ? 0 : sum / static_cast<double>(stages.size());
}

StagePrice StagePrice::make(const Facts& facts) {
    const Job& job = facts.get<Job>();
    const JobStages& stages = facts.get<JobStages>();
    const JobReplay& replay = facts.get<JobReplay>();
    StagePrice price;
    if (stages.count == 0) return price;
    Computed computed = computed_by(job, stages);
    if (computed.empty()) return price;
    price.stages.resize(stages.count);
    std::map<std::int64_t, std::vector<double>> share;  // step: by stage, the mean of the stages over its own
    for (const auto& [step, medians] : computed) {
        double all = 0;
        for (std::uint32_t stage = 0; stage < stages.count; ++stage) {
            price.stages[stage].compute_ns += medians[stage] / static_cast<double>(computed.size());
            all += medians[stage] / stages.count;
        }
        for (double median : medians) share[step].push_back(all / median);
    }
    JobTimes even = replay.recorded;
    const RankWaits& waits = facts.get<RankWaits>();
    std::vector<double> cells(stages.count, 0);
    for (const Job::RankStep& step : job.rank_steps)
        if (stages.of_rank[step.rank] != kNone) ++cells[stages.of_rank[step.rank]];
    for (std::uint32_t i = 0; i < job.collectives.size(); ++i) {
        const Job::Collective& collective = job.collectives[i];
        std::uint32_t stage = stages.of_rank[collective.rank];
        if (stage == kNone) continue;
        if (collective.is_pair()) {
            price.stages[stage].wait_ns += static_cast<double>(waits.wait[i]) / std::max(cells[stage], 1.0);
            price.stages[stage].transfer_ns +=
                static_cast<double>(replay.recorded.transfer[i]) / std::max(cells[stage], 1.0);
        }
        auto factor = share.find(collective.step);
        if (factor == share.end()) continue;
        double change = static_cast<double>(collective.own.compute) * (factor->second[stage] - 1);
        even.own[i] = std::max<DurNs>(even.own[i] + static_cast<DurNs>(change), 0);
        even.overlapped[i] = static_cast<DurNs>(static_cast<double>(even.overlapped[i]) * factor->second[stage]);
    }
    price.step_ns = replay.mean_of(replay.lengths(replay.run(replay.recorded, replay.order)));
    price.even_ns = replay.mean_of(replay.lengths(replay.run(even, replay.order)));
    return price;
}

}  // namespace gpuprof::ranks
