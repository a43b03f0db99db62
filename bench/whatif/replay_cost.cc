// What predictions cost: building the graph, one replay, the table `criticalpath` and the table `whatif`, which replays the
// recording hundreds of times. Memory is the most that a step adds to what was resident before it: the recording itself does not count.
// Times are CPU times of the only thread, which other work on the machine hardly changes; the least of N runs (default: 3) counts, as
// does the least memory.
//   replay_cost FILE [N] [--no-tables]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <string>

#include "analyze/facts/facts.h"
#include "analyze/facts/idle/submitters.h"
#include "analyze/facts/steps/step_finder.h"
#include "analyze/replay/prediction.h"
#include "analyze/tables/analysis_list.h"
#include "bench/process_cost.h"
#include "io/importers/importer.h"

namespace {

using namespace gpuprof;

// The time and memory of a step, over runs.
class Cost {
public:
    Cost(std::string name, double million_ops) : name_(std::move(name)), million_ops_(million_ops) {}
    template <class Step>
    void measure(Step&& step) {
        std::ofstream("/proc/self/clear_refs") << "5";  // resets VmHWM
        double before = status_bytes("VmRSS");
        double begun = cpu_seconds();
        step();
        seconds_ = std::min(seconds_, cpu_seconds() - begun);
        bytes_ = std::min(bytes_, status_bytes("VmHWM") - before);
    }
    void print() const {
        fmt::print("| {} | {:.3f} s | {:.3f} s | {:.0f} MB | {:.0f} bytes |\n", name_, seconds_,
                   seconds_ / million_ops_, bytes_ / 1e6, bytes_ / (1e6 * million_ops_));
    }

private:
    std::string name_;
    double million_ops_;
    double seconds_ = std::numeric_limits<double>::infinity(), bytes_ = std::numeric_limits<double>::infinity();
};

// Facts about the recording that the replay shares with other analyses.
std::unique_ptr<Facts> prepared(const Trace& trace) {
    auto facts = std::make_unique<Facts>(trace, Options{});
    (void)facts->get<Steps>();
    (void)facts->get<Submitters>();
    return facts;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return fmt::print(stderr, "usage: replay_cost FILE [N] [--no-tables]\n"), 2;
    bool tables = std::string_view(argv[argc - 1]) != "--no-tables";
    int runs = argc > 2 ? std::max(1, std::atoi(argv[2])) : 3;
    Result<Trace> trace = open_file(argv[1]);
    if (!trace) return fmt::print(stderr, "{}\n", trace.error().message), 3;
    double ops = (trace->kernel().rows + trace->memcpy().rows + trace->memset().rows) / 1e6;
    Cost build("graph", ops), once("one replay", ops), path("`criticalpath`", ops), whatif("`whatif`", ops);
    std::unique_ptr<Facts> facts;
    for (int run = 0; run < runs; ++run) {
        facts = prepared(*trace);
        build.measure([&] { (void)facts->get<ReplayGraph>(); });
        const ReplayGraph& graph = facts->get<ReplayGraph>();
        if (!graph.why_not.empty()) return fmt::print(stderr, "{}: no graph: {}\n", argv[1], graph.why_not), 4;
        Scenario scenario(graph);
        for (int i = 0; i < 5; ++i) once.measure([&] { (void)replay_times(graph, scenario, *trace); });
        if (!tables) continue;
        path.measure([&] { (void)kCriticalPath.run(*facts).ok(); });
        whatif.measure([&] { (void)kWhatIf.run(*facts).ok(); });
    }
    const ReplayGraph& graph = facts->get<ReplayGraph>();
    fmt::print("{}: {:.2f} million device operations, {:.2f} million points, {:.2f} million edges, {} steps{}\n\n",
               argv[1], ops, static_cast<double>(graph.points()) / 1e6, static_cast<double>(graph.edges.size()) / 1e6,
               graph.steps.size(), tables ? "" : ", without tables");
    if (const ReplayValidity& validity = facts->get<ReplayValidity>(); !validity.why_not.empty())
        fmt::print("no prediction: {}\n\n", validity.why_not);
    fmt::print(
        "| | CPU time | CPU time per million operations | peak memory | memory per operation "
        "|\n|---|---:|---:|---:|---:|\n");
    build.print(), once.print();
    if (tables) path.print(), whatif.print();
    return 0;
}
