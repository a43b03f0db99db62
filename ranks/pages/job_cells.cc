#include "ranks/pages/job_cells.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "ranks/job/job.h"
#include "ranks/price/peers.h"
#include "ranks/price/quantile.h"
#include "ranks/price/rank_waits.h"

namespace gpuprof::inline ranks {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// In the order in which a reader chooses from them.
enum Which : std::uint8_t { excess, step_time, compute, host, input, wait, exposed, clock, heat, throttled, kCount };

constexpr JobQuantity kQuantities[kCount] = {
    {.name = "excess",
     .title = "Own time above peers",
     .doc = "Compute, copies, input and host time beyond the median of the rank's peers.",
     .compares = true},
    {.name = "step_time",
     .title = "Step time above the median",
     .doc = "Length of the step beyond its median over all ranks.",
     .compares = true},
    {.name = "compute", .title = "Compute", .doc = "Time with a kernel in flight that is not a collective."},
    {.name = "host",
     .title = "Idle, host",
     .doc = "Time in which the device was idle while its host worked or launched."},
    {.name = "input",
     .title = "Idle, input",
     .doc = "Time in which the device was idle while its host waited for input."},
    {.name = "wait",
     .title = "Waiting",
     .doc = "Waiting for other ranks, as far as it is above the error of the clocks."},
    {.name = "exposed_comm",
     .title = "Exposed communication",
     .doc = "Collectives without compute: waiting and transfer."},
    {.name = "sm_clock",
     .title = "SM clock",
     .doc = "Mean SM clock of the rank's slowest GPU.",
     .unit = Unit::megahertz,
     .low_is_bad = true},
    {.name = "temperature",
     .title = "Temperature",
     .doc = "Highest temperature of the rank's GPUs.",
     .unit = Unit::celsius},
    {.name = "throttled", .title = "Throttled", .doc = "Time in which a GPU was slowed by heat or power."},
};

class CellFiller {
public:
    explicit CellFiller(const Facts& facts) : facts_(facts), job_(facts.get<Job>()) {
        std::size_t cells = job_.ranks.size() * job_.steps.size();
        found_.recorded.assign(cells, false);
        found_.quantities.assign(std::begin(kQuantities), std::end(kQuantities));
        found_.longest.assign(job_.steps.size(), 0);
        for (JobQuantity& quantity : found_.quantities) quantity.cells.assign(cells, kUnknown);
    }

    JobCells fill() && {
        fill_steps();
        fill_excess();
        fill_waits();
        fill_samples();
        std::erase_if(found_.quantities, [](const JobQuantity& quantity) {
            return std::all_of(quantity.cells.begin(), quantity.cells.end(),
                               [](double cell) { return std::isnan(cell); });
        });
        return std::move(found_);
    }

private:
    std::optional<std::size_t> cell_of(std::uint32_t rank, std::int64_t step) const {
        auto at = std::lower_bound(job_.steps.begin(), job_.steps.end(), step);
        if (at == job_.steps.end() || *at != step) return std::nullopt;
        return rank * job_.steps.size() + static_cast<std::size_t>(at - job_.steps.begin());
    }
    void set(Which which, std::size_t cell, double value) { found_.quantities[which].cells[cell] = value; }

    void fill_steps() {
        std::vector<std::vector<DurNs>> lengths(job_.steps.size());
        for (const Job::RankStep& step : job_.rank_steps) {
            std::size_t cell = *cell_of(step.rank, step.step);
            found_.recorded[cell] = true;
            set(compute, cell, static_cast<double>(step.own.compute));
            set(host, cell, static_cast<double>(step.own.host));
            set(input, cell, static_cast<double>(step.own.input));
            set(exposed, cell, static_cast<double>(step.exposed_comm));
            lengths[cell % job_.steps.size()].push_back(step.window.length());
        }
        std::vector<DurNs> medians;
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            medians.push_back(median_of(lengths[i]));
            if (!lengths[i].empty()) found_.longest[i] = *std::max_element(lengths[i].begin(), lengths[i].end());
        }
        for (const Job::RankStep& step : job_.rank_steps) {
            std::size_t cell = *cell_of(step.rank, step.step);
            set(step_time, cell, static_cast<double>(step.window.length() - medians[cell % job_.steps.size()]));
        }
    }

    void fill_excess() {
        const Peers& peers = facts_.get<Peers>();
        for (std::size_t i = 0; i < job_.rank_steps.size(); ++i) {
            if (!peers.has_peers[i]) continue;
            set(excess, *cell_of(job_.rank_steps[i].rank, job_.rank_steps[i].step),
                static_cast<double>(peers.excess[i].known()));
        }
    }

    // A send and a receive may wait at once, so the waits of a step are united.
    void fill_waits() {
        const RankWaits& waits = facts_.get<RankWaits>();
        for (const Job::Rank& rank : job_.ranks) {
            std::unordered_map<std::int64_t, Intervals> by_step;
            for (std::uint32_t i = rank.first; i < rank.first + rank.collectives; ++i) {
                if (!waits.known[i]) continue;
                TimeNs start = job_.collectives[i].span.start;
                by_step[job_.collectives[i].step].push_back({start, start + waits.wait[i]});
            }
            for (auto& [step, intervals] : by_step)
                if (auto cell = cell_of(job_.collectives[rank.first].rank, step); cell && found_.recorded[*cell])
                    set(wait, *cell, static_cast<double>(length(unite(std::move(intervals)))));
        }
    }

    // Of several GPUs, the one that is worst.
    void fill_samples() {
        const RankStepTable& table = facts_.trace().tables().rank_step;
        for (Row row = 0; row < table.rows; ++row) {
            std::uint32_t rank = job_.find_rank(table.rank.value_or(row, -1));
            if (rank == kNone || !table.step.has(row)) continue;
            std::optional<std::size_t> cell = cell_of(rank, table.step[row]);
            if (!cell || !found_.recorded[*cell]) continue;
            auto worst = [&](Which which, double value) {
                double before = found_.quantities[which].cells[*cell];
                bool low = kQuantities[which].low_is_bad;
                if (std::isfinite(value) && (std::isnan(before) || (low ? value < before : value > before)))
                    set(which, *cell, value);
            };
            if (table.sm_clock_mhz.has(row)) worst(clock, table.sm_clock_mhz[row]);
            if (table.temperature_c.has(row)) worst(heat, table.temperature_c[row]);
            if (table.throttled_ns.has(row)) worst(throttled, static_cast<double>(table.throttled_ns[row]));
        }
    }

    const Facts& facts_;
    const Job& job_;
    JobCells found_;
};

}  // namespace

JobCells JobCells::make(const Facts& facts) { return CellFiller(facts).fill(); }

}  // namespace gpuprof::ranks
