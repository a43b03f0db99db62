#include "analyze/replay/replayer.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "analyze/facts/facts.h"
#include "core/base/parallel.h"

namespace gpuprof::inline replay {
namespace {

// The kernels of each stream that run between the completions of the first step and the last: a stream runs one after the other, so the
// busiest one is a floor under every step. Those that overlap on their stream in the recording count once.
struct StreamWork {
    std::vector<std::uint64_t> kernels;  // a bit for each point
    TimeNs begin = 0;
    DurNs steps = 1;
    static StreamWork make(const Facts& facts) {
        const ReplayGraph& graph = facts.get<ReplayGraph>();
        const std::vector<TimeNs>& ends = facts.get<RecordedSteps>().ends;
        StreamWork work{std::vector<std::uint64_t>(graph.points() / 64 + 1), ends.front(),
                        static_cast<DurNs>(ends.size() - 1)};
        for (Point p = 0; p < graph.points(); ++p) {
            if (graph.info[p].kind != PointKind::op || !graph.info[p].in_step) continue;
            if (op_kind(graph.object[p]) != DeviceOp::kernel) continue;
            if (recorded_start(facts.trace(), graph.object[p]) < ends.back())
                work.kernels[p / 64] |= std::uint64_t{1} << p % 64;
        }
        return work;
    }
    template <class Visit>
    void each_kernel(Visit&& visit) const {
        for (std::size_t at = 0; at < kernels.size(); ++at)
            for (std::uint64_t left = kernels[at]; left != 0; left &= left - 1)
                visit(static_cast<Point>(at * 64) + static_cast<Point>(std::countr_zero(left)));
    }
    // Of the busiest stream, per step.
    DurNs floor(const ReplayGraph& graph, const Scenario& scenario, const KernelTable& table) const {
        std::vector<DurNs> work(graph.streams.size(), 0);
        std::vector<TimeNs> until(graph.streams.size(), begin);
        each_kernel([&](Point kernel) {
            TimeNs start = table.start[op_row(graph.object[kernel])], end = start + scenario.length[kernel];
            TimeNs& last = until[graph.info[kernel].lane];
            work[graph.info[kernel].lane] += std::max<DurNs>(0, end - std::max(start, last));
            last = std::max(last, end);
        });
        return work.empty() ? 0 : *std::max_element(work.begin(), work.end()) / steps;
    }
};

// The recording without the recorder's cost, by the central estimate: nearly all replays begin with it.
struct Unrecorded {
    Scenario scenario;
    static Unrecorded make(const Facts& facts) {
        const ReplayGraph& graph = facts.get<ReplayGraph>();
        Unrecorded made{Scenario(graph)};
        remove_recorder(facts, graph, made.scenario, Estimate::central);
        return made;
    }
};

}  // namespace

RecordedSteps RecordedSteps::make(const Facts& facts) {
    const ReplayGraph& graph = facts.get<ReplayGraph>();
    return {replay_completions(graph, Scenario(graph), facts.trace())};
}

Replayer::Replayer(const Facts& facts)
    : facts_(facts), graph_(facts.get<ReplayGraph>()), scenario_(facts.get<ReplayGraph>()) {}

bool Replayer::set(const std::vector<Edit>& edits, Variant variant) {
    bool known = variant.recorder == Estimate::central && !graph_.recorded_work.empty();
    if (known)
        scenario_.reset(facts_.get<Unrecorded>().scenario);
    else
        scenario_.reset(graph_);
    scenario_.residuals = variant.residuals;
    if (!variant.events) scenario_.drop(EdgeKind::event);
    if (variant.recorder && !known) remove_recorder(facts_, graph_, scenario_, *variant.recorder);
    return std::all_of(edits.begin(), edits.end(),
                       [&](const Edit& edit) { return apply(edit, facts_, graph_, scenario_, variant.effect); });
}

ReplayedSteps Replayer::replay(bool times) {
    ReplayedSteps found;
    // Kernels run together only if there is more than one stream.
    if (times && graph_.streams.size() > 1) {
        times_ = replay_times(graph_, scenario_, facts_.trace());
        found.ends = completions(graph_, scenario_, times_);
    } else {
        found.ends = replay_completions(graph_, scenario_, facts_.trace());
    }
    found.floor = floor();
    // A step that is shorter than its kernels is none: the replay has lost an order that the program needs.
    found.step = std::max(per_step(found.ends), found.floor);
    return found;
}

DurNs Replayer::floor() const { return facts_.get<StreamWork>().floor(graph_, scenario_, facts_.trace().kernel()); }

KernelOverlap Replayer::overlap() const {
    if (graph_.streams.size() < 2) return {};
    return kernel_overlap(graph_, scenario_, times_);
}

void for_each_replay(const Facts& facts, std::size_t n, const std::function<void(std::size_t, Replayer&)>& work) {
    constexpr std::size_t kMinPoints = 100'000, kManyPoints = 1'000'000;
    std::size_t points = facts.get<ReplayGraph>().points();
    unsigned threads = points < kMinPoints ? 1 : default_threads();
    if (points >= kManyPoints) threads = std::min(threads, 2u);
    std::vector<std::optional<Replayer>> replayers(threads);
    run_parallel(n, threads, [&](std::size_t i, unsigned worker) {
        if (!replayers[worker]) replayers[worker].emplace(facts);
        work(i, *replayers[worker]);
    });
}

}  // namespace gpuprof::replay
