// Summaries of a job whose clocks and collectives are known: which records are one collective, and how far each clock is
// off. Records are lost, sampled, begin late, or have no numbers, as asked. The same job for the same seed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text/rank_list.h"
#include "core/model/build/trace_builder.h"

namespace gpuprof {

// Pauses between the collectives of a group. regular: 1 ms, up to 20 us more. bursts: ten every 30 us, then 10 ms.
// training: places of a step differ, and each varies by a percent.
enum class Rhythm : std::uint8_t { regular, bursts, training };

struct Plan {
    Rhythm rhythm = Rhythm::training;
    std::int32_t hosts = 8, of_host = 2, steps = 20, per_step = 10;
    bool numbered = true;        // sequence numbers
    bool step_names = true;      // without: each rank counts its steps from its first one
    bool host_names = true;      // without: each rank has a clock of its own
    bool one_host = false;       // all ranks are of the first host
    bool equal_sizes = true;     // of all messages
    bool ranks_known = true;     // of groups
    bool pairs = false;          // sends and receives between neighbours; then groups over hosts only if numbered
    double lost = 0;             // part of the records
    std::int32_t every = 1;      // each rank keeps every k-th record, each from another one
    std::int32_t most_late = 0;  // collectives that a rank may miss at its beginning
    double jitter_ns = 4'000;    // standard deviation of ends
    std::uint32_t seed = 1;
};

class PlantedJob {
public:
    explicit PlantedJob(const Plan& plan) : plan_(plan), random_(plan.seed * 7919 + 17) {
        for (std::int32_t host = 0; host < plan.hosts; ++host) {
            offsets.push_back(normal(3e6));
            rates.push_back(normal(8e-6));
        }
        for (std::int32_t rank = 0; rank < ranks(); ++rank) {
            add_rank(rank);
            gpus.push_back(normal(1'000));
            phases_.push_back(uniform(plan.every));
            late_.push_back(plan.most_late > 0 ? uniform(plan.most_late + 1) : 0);
            steps_skipped_.push_back(plan.step_names || rank % 3 != 1 ? 0 : 1);
        }
        plant_times();
        for (std::int32_t local = 0; local < plan.of_host; ++local) {
            for (std::int32_t host = 0; plan.pairs && host + 1 < plan.hosts; ++host)
                add_series({rank_of(host, local), rank_of(host + 1, local)}, true);
            if (plan.numbered || !plan.pairs) add_series(line(local), false);
        }
        write();
    }

    std::int32_t ranks() const { return plan_.hosts * plan_.of_host; }
    std::int32_t host_of(std::int32_t rank) const { return plan_.one_host ? 0 : rank / plan_.of_host; }
    // What the clock of a host showed more than the truth at a time; that of a GPU is off by `gpus` more.
    double ahead(std::int32_t host, double time) const {
        auto at = static_cast<std::size_t>(host);
        return offsets[at] + rates[at] * (time - middle_);
    }
    // Which collective a record is of: by rank and start.
    std::int64_t truth(std::int32_t rank, TimeNs start) const { return truth_.at({rank, start}); }
    double middle() const { return middle_; }
    double half() const { return middle_ - kBegin; }

    Trace finish() {
        batch_.tables.close();
        TraceBuilder builder({"job", "ranks", {}});
        builder.append(std::move(batch_));
        return std::move(builder).finish();
    }

    std::vector<double> offsets, rates, gpus;

private:
    static constexpr double kBegin = 1e12, kTransfer = 200'000;

    struct Record {
        std::int32_t rank;
        std::int64_t instance, group, seq, step, bytes;
        std::int32_t from, to;
        double start, end;
    };

    std::int32_t rank_of(std::int32_t host, std::int32_t local) const { return host * plan_.of_host + local; }
    RankList line(std::int32_t local) const {
        RankList ranks;
        for (std::int32_t host = 0; host < plan_.hosts; ++host) ranks.push_back(rank_of(host, local));
        return ranks;
    }
    double normal(double deviation) { return std::normal_distribution<double>(0, deviation)(random_); }
    double real(double most) { return std::uniform_real_distribution<double>(0, most)(random_); }
    std::int32_t uniform(std::int32_t below) {
        return std::uniform_int_distribution<std::int32_t>(0, below - 1)(random_);
    }

    void add_rank(std::int32_t rank) {
        RankTable& table = batch_.tables.rank;
        Row row = table.add();
        table.rank.set(row, rank);
        table.world_size.set(row, ranks());
        table.status.set(row, batch_.intern("whole"));
        if (plan_.host_names) table.host.set(row, batch_.intern("n" + std::to_string(host_of(rank))));
    }

    // When the collectives of all groups end, in truth: those of one place of a step at about the same time.
    void plant_times() {
        std::vector<double> usual;
        for (std::int32_t place = 0; place < plan_.per_step; ++place) usual.push_back(1e6 + real(7e6));
        double now = kBegin;
        for (std::int32_t i = 0; i < plan_.steps * plan_.per_step; ++i) {
            auto place = static_cast<std::size_t>(i % plan_.per_step);
            switch (plan_.rhythm) {
                case Rhythm::regular: now += 1e6 + real(20'000); break;
                case Rhythm::bursts: now += i % 10 == 0 ? 10e6 + real(1e6) : 30'000 + real(5'000); break;
                case Rhythm::training: now += usual[place] * (1 + normal(0.01)) + (place == 0 ? 20e6 + real(2e5) : 0);
            }
            times_.push_back(now);
        }
        middle_ = (kBegin + now) / 2;
    }

    void add_series(const RankList& ranks, bool pairs) {
        auto group = static_cast<std::int64_t>(plan_.ranks_known ? hash_ranks(ranks) >> 1 : 4711);
        for (std::int32_t rank : ranks) {
            RankGroupTable& table = batch_.tables.rank_group;
            Row row = table.add();
            table.rank.set(row, rank);
            table.group_id.set(row, group);
            table.description.set(row, batch_.intern("dp"));
            table.size.set(row, static_cast<std::int32_t>(ranks.size()));
            if (plan_.ranks_known) table.ranks.set(row, batch_.intern(format_ranks(ranks)));
        }
        double shift = real(5e5);
        free_.assign(static_cast<std::size_t>(this->ranks()), 0);
        for (std::size_t i = 0; i < times_.size(); ++i, ++instance_) {
            auto place = static_cast<std::int64_t>(i) % plan_.per_step;
            bool back = pairs && i % 2 == 1;
            double end = times_[i] + shift + normal(20'000);
            // A stream executes one collective after the other, and nobody leaves one before all have come.
            std::vector<double> arrived;
            for (std::int32_t rank : ranks)
                arrived.push_back(
                    std::max(end - kTransfer - real(100'000), free_[static_cast<std::size_t>(rank)] + 1'000));
            double last = *std::max_element(arrived.begin(), arrived.end());
            for (std::size_t k = 0; k < ranks.size(); ++k) {
                std::int32_t rank = ranks[k];
                auto at = static_cast<std::size_t>(rank);
                double ended = free_[at] = std::max(end + normal(plan_.jitter_ns), last + 1'000);
                if (static_cast<std::int32_t>(i) < late_[at]) continue;
                if ((static_cast<std::int32_t>(i) + phases_[at]) % plan_.every != 0) continue;
                if (real(1) < plan_.lost) continue;
                Record record{rank, instance_, group, static_cast<std::int64_t>(i), step_of(i, at), 1 << 20, -1,
                              -1,   0,         0};
                if (!plan_.equal_sizes) record.bytes = 1024 * (1 + place * 7 % 5);
                if (pairs) record.from = ranks[back ? 1 : 0], record.to = ranks[back ? 0 : 1];
                double error = gpus[at] + ahead(host_of(rank), end);
                record.start = arrived[k] + error, record.end = ended + error;
                records_.push_back(record);
            }
        }
    }
    std::int64_t step_of(std::size_t i, std::size_t rank) const {
        std::int64_t step = static_cast<std::int64_t>(i) / plan_.per_step;
        if (plan_.step_names) return step + 100;
        return step - late_[rank] / plan_.per_step - steps_skipped_[rank];
    }

    void write() {
        std::sort(records_.begin(), records_.end(), [](const Record& a, const Record& b) {
            return std::pair(a.rank, a.start) < std::pair(b.rank, b.start);
        });
        RankCollectiveTable& table = batch_.tables.rank_collective;
        for (const Record& record : records_) {
            if (record.step < 0) continue;
            Row row = table.add();
            auto start = static_cast<TimeNs>(std::llround(record.start));
            while (!truth_.try_emplace({record.rank, start}, record.instance).second) ++start;
            table.rank.set(row, record.rank);
            table.device.set(row, 0);
            table.step.set(row, record.step);
            table.group_id.set(row, record.group);
            bool pair = record.from >= 0;
            if (plan_.numbered && !pair) table.seq.set(row, record.seq);
            table.kind.set(row, batch_.intern(pair ? "send_recv" : "all_reduce"));
            table.bytes.set(row, record.bytes);
            if (pair) table.src_rank.set(row, record.from), table.dst_rank.set(row, record.to);
            table.stream.set(row, pair ? 20 : 16);
            table.from_time.set(row, start);
            table.to_time.set(row, static_cast<TimeNs>(std::llround(record.end)));
        }
    }

    Plan plan_;
    std::mt19937_64 random_;
    Batch batch_;
    std::vector<double> times_, free_;
    std::vector<std::int32_t> phases_, late_, steps_skipped_;
    std::vector<Record> records_;
    std::map<std::pair<std::int32_t, TimeNs>, std::int64_t> truth_;
    std::int64_t instance_ = 0;
    double middle_ = 0;
};

}  // namespace gpuprof
