// The engine steps of a server of language models, with the device work that each launched. An iteration lasts from the mark
// of one step to the next on the thread that launches, because sampling follows the marked forward pass; its work is what was
// launched then, whenever it ran: a host that runs ahead launches the next step while the device is in this one.
// Wall times follow each other: from the last end of the iterations before to that of this one. So wall times of all add up to
// the time from the first start to the last end of their work, and idle times to the idle time in it.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/facts/facts.h"
#include "analyze/facts/steps/engines.h"
#include "analyze/knowledge/serving_names.h"
#include "core/base/pod_vector.h"
#include "core/model/interval.h"

namespace gpuprof::inline facts {

// none: it launched no graph, or its graphs hold little of its work; opaque: of launched graphs no op was recorded.
enum class GraphMode : std::uint8_t { eager, full, piecewise, opaque };
// warm_up: the first of its kind (phase and graphs), if it is slow or the only one; ramps: fewer requests than the steady part.
enum class IterationState : std::uint8_t { steady, warm_up, ramp_up, ramp_down, outside };

std::string_view name_of(GraphMode mode);
std::string_view name_of(IterationState state);

struct Iteration {
    std::size_t engine = 0, number = 0;  // of Iterations::engines; in that engine
    StringId name = kNoString;
    ServingBatch batch;
    TimeNs host_start = 0;
    DurNs host = 0;    // of the mark
    TimeNs next = 0;   // where the next iteration begins; of the last one, where the host is done with it
    bool ran = false;  // has device work; without, what follows is 0
    Interval gpu;      // first start and last end of its work
    TimeNs begin = 0;  // of its wall time: the last end of the iterations before
    DurNs own_busy = 0, kernel_sum = 0, comm = 0, exposed_comm = 0;
    DurNs idle_before = 0, idle_graph = 0, idle_inside = 0;
    bool first = false;  // what the device did before it is unknown
    std::size_t kernels = 0, copies = 0, fills = 0, graph_launches = 0, graph_ops = 0;
    std::size_t layers = 0;  // how often most of its kernels repeat; 0: unknown
    GraphMode mode = GraphMode::eager;
    IterationState state = IterationState::outside;

    DurNs wall() const { return gpu.end > begin ? gpu.end - begin : 0; }
    DurNs idle() const { return idle_before + idle_graph + idle_inside; }
    ServingPhase phase() const { return batch.phase; }
    // Whether the times of its device work are known.
    bool has_times() const { return ran && mode != GraphMode::opaque; }
    bool has_requests() const { return batch.phase != ServingPhase::dummy && batch.phase != ServingPhase::empty; }
};

inline constexpr std::uint32_t kNoIteration = 0xFFFFFFFFu;

struct Iterations {
    std::vector<Engine> engines;  // without their ops
    std::vector<Iteration> all;   // by engine, then number
    PodVector<std::uint32_t>
        of_kernel;                   // by row of `kernel`: the iteration that launched it, or kNoIteration; or empty
    std::vector<std::string> notes;  // how they were found, and what is unknown
    static Iterations make(const Facts& facts);
};

// What the thread of an engine does in each iteration, by the engine's own ranges, else by its Python functions.
struct HostParts {
    std::array<std::optional<DurNs>, kServingParts> parts;
    std::optional<DurNs> wait;  // in calls that wait for the device
    std::optional<DurNs> of(ServingPart part) const { return parts[static_cast<std::size_t>(part)]; }
};

// Parts of the threads of engines that a change could remove (engine_stretches.cc).
struct EngineStretches {
    struct OfThread {
        IntervalSet sampling;  // on the host: from the copy of the logits to the copy of the chosen ids
        IntervalSet
            between;  // from the last call of a step that submits work to the first of the next, without sleeping
    };
    std::map<StringId, OfThread> of_thread;  // of each engine
    std::vector<Row> sampling_copies;        // rows of memcpy: of logits to the host and of ids back, ascending
    std::size_t sampled_steps = 0;           // 0: the host does not sample
    std::int64_t logits_bytes = 0;           // median of those steps
    DurNs host_sampling = 0;                 // what the host does after it has the logits, in all of them
    static EngineStretches make(const Facts& facts);
};

// Of each iteration of Iterations::all. Scheduling belongs to the iteration that begins after it, all else to the one before.
struct EngineHost {
    std::vector<HostParts> parts;
    static EngineHost make(const Facts& facts);
};

}  // namespace gpuprof::facts
