// Creates the summaries of a larger job from those of a smaller one: its steps are repeated until there are STEPS, each
// with half a percent of noise on its parts, otherwise the compressor would exploit the repetition. With RANKS, its ranks
// are repeated, too; collectives are omitted then, because no group would hold the copies.
//   make_job IN OUT STEPS [RANKS]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "core/base/files/file_sink.h"
#include "core/model/build/merge_traces.h"
#include "core/model/build/trace_builder.h"
#include "io/exporters/capture_export.h"
#include "io/importers/importer.h"

namespace {

using namespace gpuprof;

class Enlarger {
public:
    Enlarger(const Trace& once, std::size_t steps, std::int32_t ranks) : once_(once), wanted_(steps), ranks_(ranks) {
        const RankStepTable& table = once.tables().rank_step;
        TimeNs first = INT64_MAX, last = INT64_MIN;
        std::int64_t low = INT64_MAX, high = INT64_MIN;
        for (Row row = 0; row < table.rows; ++row) {
            first = std::min(first, table.from_time[row]);
            last = std::max(last, table.to_time[row]);
            low = std::min<std::int64_t>(low, table.step[row]);
            high = std::max<std::int64_t>(high, table.step[row]);
        }
        steps_ = high - low + 1;
        time_ = last - first;
        const RankCollectiveTable& collectives = once.tables().rank_collective;
        for (Row row = 0; row < collectives.rows; ++row) seqs_ = std::max(seqs_, collectives.seq.value_or(row, 0) + 1);
        for (Row row = 0; row < once.tables().rank.rows; ++row)
            own_ranks_ = std::max(own_ranks_, once.tables().rank.rank.value_or(row, 0) + 1);
    }

    Trace enlarge() {
        TraceBuilder builder(once_.origin());
        std::int32_t copies = ranks_ > 0 ? (ranks_ + own_ranks_ - 1) / own_ranks_ : 1;
        for (std::int32_t copy = 0; copy < copies; ++copy)
            for (std::int64_t turn = 0; turn * steps_ < static_cast<std::int64_t>(wanted_); ++turn)
                builder.append(part(copy, turn));
        return std::move(builder).finish();
    }

private:
    template <class Column>
    static void add(Column& column, std::size_t rows, std::int64_t by) {
        for (Row row = 0; by != 0 && row < rows; ++row)
            if (column.has(row)) column.mutable_values()[row] += static_cast<typename Column::value_type>(by);
    }
    template <class Column>
    void noise(Column& column, std::size_t rows) {
        std::normal_distribution<double> factor(1, 0.005);
        for (Row row = 0; row < rows; ++row)
            if (column.has(row))
                column.mutable_values()[row] = std::llround(factor(random_) * static_cast<double>(column[row]));
    }

    Batch part(std::int32_t copy, std::int64_t turn) {
        Batch batch = batch_of(copy_of(once_));
        Tables& tables = batch.tables;
        if (turn > 0) tables.rank = {}, tables.rank_group = {}, tables.rank_kernel = {};
        if (ranks_ > 0) tables.rank_collective = {}, tables.rank_group = {}, tables.rank_kernel = {};
        add(tables.rank.rank, tables.rank.rows, copy * own_ranks_);
        RankStepTable& steps = tables.rank_step;
        add(steps.rank, steps.rows, copy * own_ranks_);
        add(steps.step, steps.rows, turn * steps_);
        add(steps.from_time, steps.rows, turn * time_);
        add(steps.to_time, steps.rows, turn * time_);
        for (auto* column : {&steps.compute_ns, &steps.exposed_comm_ns, &steps.host_ns, &steps.input_ns})
            noise(*column, steps.rows);
        std::normal_distribution<double> clock(1900, 15), heat(62, 2);
        for (Row row = 0; row < steps.rows; ++row) {
            steps.sm_clock_mhz.set(row, std::round(clock(random_)));
            steps.temperature_c.set(row, std::round(heat(random_)));
        }
        RankCollectiveTable& collectives = tables.rank_collective;
        add(collectives.step, collectives.rows, turn * steps_);
        add(collectives.seq, collectives.rows, turn * seqs_);
        add(collectives.from_time, collectives.rows, turn * time_);
        add(collectives.to_time, collectives.rows, turn * time_);
        return batch;
    }

    const Trace& once_;
    std::size_t wanted_;
    std::int32_t ranks_, own_ranks_ = 0;
    std::int64_t steps_ = 0, seqs_ = 0;
    TimeNs time_ = 0;
    std::mt19937 random_{1};
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return fmt::print(stderr, "usage: make_job IN OUT STEPS [RANKS]\n"), 2;
    Result<Trace> trace = open_file(argv[1]);
    if (!trace) return fmt::print(stderr, "{}\n", trace.error().message), 3;
    if (trace->tables().rank_step.rows == 0) return fmt::print(stderr, "{}: no steps of ranks\n", argv[1]), 4;
    Trace job = Enlarger(*trace, std::stoul(argv[3]), argc > 4 ? std::stoi(argv[4]) : 0).enlarge();
    Result<FileSink> out = FileSink::open(argv[2]);
    if (!out.ok()) return fmt::print(stderr, "{}\n", out.error().message), 6;
    Status written = write_capture(job, *out, {});
    if (written) written = out->close();
    if (!written) return fmt::print(stderr, "{}\n", written.error().message), 6;
    fmt::print("{} ranks, {} rows of steps, {} of collectives\n", job.tables().rank.rows, job.tables().rank_step.rows,
               job.tables().rank_collective.rows);
    return 0;
}
