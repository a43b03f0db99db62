// What the answer about a job of many ranks costs, from summaries in memory: reading the rows, matching, clocks, replay,
// peers, prices. The job is that of bench/ranks/large_job.h. CPU time of all threads and memory added by each part.
//   job_cost RANKS STEPS [COLLECTIVES_PER_STEP]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "analyze/facts/facts.h"
#include "bench/process_cost.h"
#include "bench/ranks/large_job.h"
#include "ranks/clocks/clocks.h"
#include "ranks/job/job.h"
#include "ranks/match/match.h"
#include "ranks/price/peers.h"
#include "ranks/price/replay.h"
#include "ranks/price/stragglers.h"

namespace {

using namespace gpuprof;

template <class Step>
void measure(std::string_view name, Step&& step) {
    double begun = cpu_seconds();
    step();
    fmt::print("| {} | {:.2f} s | {:.0f} MB | {:.0f} MB |\n", name, cpu_seconds() - begun, status_bytes("VmRSS") / 1e6,
               status_bytes("VmHWM") / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        fmt::print(stderr, "usage: job_cost RANKS STEPS [COLLECTIVES_PER_STEP]\n");
        return 2;
    }
    int ranks = std::atoi(argv[1]), steps = std::atoi(argv[2]), collectives = argc > 3 ? std::atoi(argv[3]) : 40;
    fmt::print("{} ranks, {} steps, {} collectives of a rank in a step\n\n", ranks, steps, collectives);
    fmt::print("| part | CPU time | memory after it | most so far |\n|---|---:|---:|---:|\n");
    Trace trace;
    measure("summaries in memory", [&] { trace = LargeJob(ranks, steps, collectives, ranks / 2).finish(); });
    Facts facts(trace, {});
    measure("rows", [&] { facts.get<Job>(); });
    measure("matching", [&] { facts.get<MatchedJob>(); });
    measure("clocks", [&] { facts.get<AlignedClocks>(); });
    measure("replay", [&] { facts.get<JobReplay>(); });
    measure("peers", [&] { facts.get<Peers>(); });
    const Stragglers* found = nullptr;
    measure("prices", [&] { found = &facts.get<Stragglers>(); });
    for (const Straggler& unit : found->units)
        fmt::print("\n{} ({}): {:.2f} ms of a step of {:.1f} ms\n", unit.unit, name_of(unit.cause), unit.cost_ns / 1e6,
                   found->step_ns / 1e6);
    return 0;
}
