#include "ranks/reduce/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analyze/facts/activity.h"
#include "analyze/facts/stat.h"
#include "analyze/knowledge/serving_names.h"
#include "ranks/match/collectives_of_rank.h"
#include "ranks/reduce/calls.h"
#include "ranks/reduce/host_input.h"
#include "ranks/reduce/own_time.h"
#include "ranks/reduce/rank_rows.h"
#include "ranks/reduce/rank_steps.h"
#include "ranks/reduce/reduce_collectives.h"

namespace gpuprof::inline ranks {
namespace {

constexpr std::size_t kMaxKernels = 64;  // with the most time; a job's differences show in these

class Reduction {
public:
    Reduction(const Facts& facts, std::int32_t rank, Batch& into)
        : facts_(facts),
          trace_(facts.trace()),
          rank_(rank),
          into_(into),
          rows_(trace_, rank, into),
          steps_(RankSteps::make(facts)),
          collectives_(collectives_of_rank(facts, steps_)) {}

    void write_rank(const RankFile& file) {
        RankTable& table = into_.tables.rank;
        Row row = table.add();
        table.rank.set(row, rank_);
        put_process(table, row, file);
        const DeviceTable& devices = trace_.tables().device;
        if (devices.rows > 0) {
            std::int32_t used = facts_.get<Activity>().devices.empty() ? devices.device.value_or(0, 0)
                                                                       : facts_.get<Activity>().devices.front().device;
            for (Row device = 0; device < devices.rows; ++device)
                if (devices.device.value_or(device, -1) == used) {
                    rows_.put(table.gpu, row, devices.name.get(device));
                    rows_.put(table.gpu_uuid, row, devices.uuid.get(device));
                }
        }
        if (std::string place = place_text(file); !place.empty()) table.place.set(row, into_.intern(place));
        table.file.set(row, into_.intern(file.path));
        table.file_bytes.set(row, static_cast<std::int64_t>(file.bytes));
        table.importer.set(row, into_.intern(trace_.origin().importer));
        table.status.set(row, into_.intern(file.cut ? "cut" : "whole"));
        if (!file.reason.empty()) table.reason.set(row, into_.intern(file.reason));
        table.from_time.set(row, trace_.window().start);
        table.to_time.set(row, trace_.window().end);
        if (!is_flight_dump(trace_)) return;
        CallCounts counts = count_calls(trace_);
        table.calls.set(row, counts.calls);
        table.lost_calls.set(row, counts.lost);
    }

    void write_collectives() { reduce_collectives(trace_, rank_, world_, steps_, collectives_, into_); }

    void write_steps() {
        if (steps_.by_place()) into_.lose(Loss::steps_by_order, fmt::format("rank {}", rank_));
        if (steps_.whole()) into_.lose(Loss::no_steps, fmt::format("rank {}", rank_));
        const std::vector<DeviceActivity>& devices = facts_.get<Activity>().devices;
        for (std::size_t at = 0; at < devices.size(); ++at) {
            const DeviceActivity& device = devices[at];
            const OwnTimes& own = facts_.get<DeviceOwnTimes>().devices[at];
            std::vector<std::pair<std::int64_t, std::int64_t>> launched = count_kernels(device.device);
            std::vector<StepSamples> sampled = step_samples(trace_, steps_.steps(), device.device);
            for (std::size_t i = 0; i < steps_.steps().size(); ++i) write_step(device, own, i, launched[i], sampled[i]);
        }
        if (devices.empty()) write_host_steps();
    }

    void write_kernels() {
        KernelGroups groups = group_kernels();
        struct Sums {
            StringId name;
            std::int64_t grid;
            std::int32_t block;
            Stat stat;
        };
        std::vector<Sums> sums;
        for (const auto& [key, group] : groups.at) {
            const auto& [name, grid, block] = key;
            if (is_collective_kernel(trace_.text(name))) continue;
            sums.push_back({name, grid, block, stat_of({groups.durations.data() + group.begin, group.count})});
        }
        std::stable_sort(sums.begin(), sums.end(),
                         [](const Sums& a, const Sums& b) { return a.stat.sum > b.stat.sum; });
        if (sums.size() > kMaxKernels) sums.resize(kMaxKernels);
        RankKernelTable& table = into_.tables.rank_kernel;
        for (const Sums& each : sums) {
            Row row = table.add();
            table.rank.set(row, rank_);
            table.name.set(row, into_.intern(trace_.text(each.name)));
            table.grid.set(row, each.grid);
            table.block.set(row, each.block);
            table.count.set(row, static_cast<std::int64_t>(each.stat.count));
            if (std::optional<std::int64_t> total = each.stat.sum.value()) table.total_ns.set(row, *total);
            table.p50_ns.set(row, each.stat.p50);
        }
    }

private:
    struct KernelGroup {
        std::size_t begin = 0, count = 0;  // of `durations`
    };
    struct KernelGroups {
        std::map<std::tuple<StringId, std::int64_t, std::int32_t>, KernelGroup> at;
        PodVector<std::int64_t> durations;  // group after group
    };

    // By name, grid and block. One array for all groups: many small ones would not be spilled.
    KernelGroups group_kernels() const {
        KernelGroups groups;
        const KernelTable& kernels = trace_.kernel();
        PodVector<KernelGroup*> of_row;  // kernels with a name
        for (Row row = 0; row < kernels.rows; ++row) {
            if (!kernels.name.has(row)) continue;
            of_row.push_back(&groups.at[{kernels.name[row], blocks_of(row), threads_of(row)}]);
            ++of_row.back()->count;
        }
        std::size_t begin = 0;
        for (auto& [key, group] : groups.at) {
            group.begin = begin;
            begin += std::exchange(group.count, 0);
        }
        groups.durations.resize(begin);
        KernelGroup** next = of_row.begin();
        for (Row row = 0; row < kernels.rows; ++row) {
            if (!kernels.name.has(row)) continue;
            KernelGroup& group = **next++;
            groups.durations[group.begin + group.count++] = kernels.dur[row];
        }
        return groups;
    }

    // By the name of the file, else by the title of a process.
    std::string place_text(const RankFile& file) const {
        ParallelPlace place = parallel_place(std::string_view(file.path).substr(file.path.rfind('/') + 1));
        const ProcessTable& processes = trace_.tables().process;
        for (Row row = 0; row < processes.rows && !place.known(); ++row)
            if (processes.name.has(row)) place = parallel_place(trace_.text(processes.name[row]));
        std::string text;
        for (auto [name, number] :
             {std::pair("dp", place.replica), {"pp", place.stage}, {"tp", place.shard}, {"ep", place.expert}})
            if (number) text += fmt::format("{}{}{}", text.empty() ? "" : " ", name, *number);
        return text;
    }

    void put_process(RankTable& table, Row row, const RankFile& file) {
        const ProcessTable& processes = trace_.tables().process;
        StringId host = kNoString;
        for (Row process = 0; process < processes.rows; ++process) {
            if (world_ <= 0) world_ = processes.world_size.value_or(process, 0);
            if (host == kNoString) host = processes.host.value_or(process, kNoString);
        }
        if (processes.rows > 0 && processes.local_rank.has(0) && processes.local_rank[0] <= INT32_MAX)
            table.local_rank.set(row, static_cast<std::int32_t>(processes.local_rank[0]));
        if (world_ > 0 && world_ <= INT32_MAX) table.world_size.set(row, static_cast<std::int32_t>(world_));
        bool recorded = host != kNoString;
        if (recorded || !file.host.empty()) {
            table.host.set(row, into_.intern(recorded ? trace_.text(host) : std::string_view(file.host)));
            table.host_from.set(row, into_.intern(recorded ? "recorded" : std::string_view(file.host_from)));
        }
    }

    // By step: kernels, and collectives among them.
    std::vector<std::pair<std::int64_t, std::int64_t>> count_kernels(std::int32_t device) {
        std::vector<std::pair<std::int64_t, std::int64_t>> counts(steps_.steps().size());
        const KernelTable& kernels = trace_.kernel();
        for (Row row = 0; row < kernels.rows; ++row) {
            if (kernels.device.value_or(row, -1) != device) continue;
            std::size_t step = steps_.of_kernel(row);
            if (step >= counts.size()) continue;
            ++counts[step].first;
            counts[step].second += is_collective_kernel(trace_.text(kernels.name.value_or(row, kNoString)));
        }
        return counts;
    }

    // Of a job without a GPU: collectives, input, and everything else.
    void write_host_steps() {
        Intervals spans;
        for (const RankCollective& point : collectives_) spans.push_back(point.span);
        IntervalSet comm = unite(std::move(spans)), input = subtract(host_input(facts_), comm);
        RankStepTable& table = into_.tables.rank_step;
        for (const RankStep& step : steps_.steps()) {
            Row row = table.add();
            table.rank.set(row, rank_);
            table.step.set(row, step.number);
            table.from_time.set(row, step.window.start);
            table.to_time.set(row, step.window.end);
            DurNs in_comm = length_within(comm, step.window), in_input = length_within(input, step.window);
            table.comm_ns.set(row, in_comm);
            table.exposed_comm_ns.set(row, in_comm);
            table.input_ns.set(row, in_input);
            table.host_ns.set(row, step.window.length() - in_comm - in_input);
        }
    }

    void write_step(const DeviceActivity& device, const OwnTimes& own, std::size_t index,
                    std::pair<std::int64_t, std::int64_t> launched, const StepSamples& sampled) {
        const RankStep& step = steps_.steps()[index];
        RankStepTable& table = into_.tables.rank_step;
        Row row = table.add();
        table.rank.set(row, rank_);
        if (device.device >= 0) table.device.set(row, device.device);
        table.step.set(row, step.number);
        table.from_time.set(row, step.window.start);
        table.to_time.set(row, step.window.end);
        OwnTime parts = own.within(step.window);
        DurNs compute = length_within(device.compute(), step.window), comm = length_within(device.comm, step.window);
        table.busy_ns.set(row, length_within(device.busy, step.window));
        table.compute_ns.set(row, compute);
        table.comm_ns.set(row, comm);
        table.exposed_comm_ns.set(row, length_within(device.kernel(), step.window) - compute);
        table.copy_ns.set(row, parts.copy);
        table.head_ns.set(row, head_of(device.busy, step.window));
        table.input_ns.set(row, parts.input);
        table.host_ns.set(row, parts.host);
        table.unknown_ns.set(row, parts.unknown);
        put_samples(table, row, sampled, step.window);
        table.kernels.set(row, launched.first);
        table.collectives.set(row, launched.second);
    }
    static void put_samples(RankStepTable& table, Row row, const StepSamples& sums, Interval window) {
        if (sums.with_clock > 0) table.sm_clock_mhz.set(row, sums.clock / static_cast<double>(sums.with_clock));
        if (sums.with_heat > 0) table.temperature_c.set(row, sums.hottest);
        if (sums.with_reasons > 0)
            table.throttled_ns.set(
                row, static_cast<DurNs>(static_cast<double>(window.length()) * static_cast<double>(sums.throttled) /
                                        static_cast<double>(sums.with_reasons)));
    }

    static DurNs head_of(const IntervalSet& busy, Interval window) {
        auto next = std::upper_bound(busy.begin(), busy.end(), window.start,
                                     [](TimeNs time, const Interval& each) { return time < each.end; });
        TimeNs begin = next == busy.end() ? window.end : std::clamp(next->start, window.start, window.end);
        return begin - window.start;
    }

    std::int64_t blocks_of(Row row) const {
        const KernelTable& kernels = trace_.kernel();
        std::int64_t blocks = 1;
        for (const auto* column : {&kernels.grid_x, &kernels.grid_y, &kernels.grid_z})
            blocks = std::min<std::int64_t>(blocks * std::max(column->value_or(row, 1), 1), INT32_MAX);
        return blocks;
    }
    std::int32_t threads_of(Row row) const {
        const KernelTable& kernels = trace_.kernel();
        std::int64_t threads = 1;
        for (const auto* column : {&kernels.block_x, &kernels.block_y, &kernels.block_z})
            threads = std::min<std::int64_t>(threads * std::max(column->value_or(row, 1), 1), INT32_MAX);
        return static_cast<std::int32_t>(threads);
    }

    const Facts& facts_;
    const Trace& trace_;
    std::int32_t rank_;
    Batch& into_;
    RankRows rows_;
    RankSteps steps_;
    LargeVector<RankCollective> collectives_;
    std::int64_t world_ = 0;
};

}  // namespace

std::optional<std::int32_t> rank_of(const Trace& trace, const RankFile& file) {
    const ProcessTable& processes = trace.tables().process;
    for (Row row = 0; row < processes.rows; ++row)
        if (processes.rank.has(row) && processes.rank[row] >= 0 && processes.rank[row] <= INT32_MAX)
            return static_cast<std::int32_t>(processes.rank[row]);
    return file.rank;
}

void reduce_rank(const Facts& facts, const RankFile& file, std::int32_t rank, Batch& into) {
    Reduction reduction(facts, rank, into);
    reduction.write_rank(file);
    reduction.write_collectives();
    reduction.write_steps();
    reduction.write_kernels();
    reduce_calls(facts.trace(), rank, into);
}

}  // namespace gpuprof::ranks
