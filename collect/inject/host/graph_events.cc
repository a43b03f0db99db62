#include "collect/inject/host/graph_events.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "collect/inject/collector.h"
#include "collect/inject/host/event_ring.h"
#include "collect/inject/host/launch_stacks.h"
#include "collect/inject/overhead_timer.h"
#include "collect/inject/switch_lock.h"
#include "core/base/clock.h"
#include "core/format/cupti_records.h"

namespace gpuprof::inject {
namespace {

using spool::GraphNodeEvent;
using spool::GraphNodeOp;

using cupti::GraphData;

// 48 MB of events. A captured node with one dependency takes three: its creation, the dependency, the copy.
constexpr std::size_t kBlockEvents = 1024, kBlocks = 1024;

struct Block {
    GraphNodeEvent events[kBlockEvents];
};

constinit pthread_mutex_t graph_lock = PTHREAD_MUTEX_INITIALIZER;  // of the next two
Block* graph_blocks[kBlocks] = {};                                 // never freed: a child has its parent's
constinit std::atomic<std::uint64_t> graph_events{0};
constinit std::atomic<std::uint64_t> lost_events{0};
std::uint64_t written_events = 0;  // spool thread only

// An executable graph is being made on this thread: nodes are created within, on a stack that says nothing about them.
thread_local bool making_executable __attribute__((tls_model("initial-exec"))) = false;

void keep(const GraphNodeEvent& event) noexcept {
    SwitchLock turn(graph_lock);
    std::uint64_t at = graph_events.load(std::memory_order_relaxed);
    Block** block = at < kBlocks * kBlockEvents ? &graph_blocks[at / kBlockEvents] : nullptr;
    if (block != nullptr && *block == nullptr) *block = static_cast<Block*>(std::malloc(sizeof(Block)));
    if (block == nullptr || *block == nullptr) {
        lost_events.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    (*block)->events[at % kBlockEvents] = event;
    graph_events.store(at + 1, std::memory_order_release);
}

std::uint64_t id_of_node(const Cupti& cupti, void* node) noexcept {
    std::uint64_t id = 0;
    return node != nullptr && cupti.cuptiGetGraphNodeId(node, &id) == kCuptiSuccess ? id : 0;
}

// What a callback says about its node; false: nothing that is recorded.
bool read_graph_event(const Cupti& cupti, std::uint32_t cbid, const GraphData& data, GraphNodeEvent& event) noexcept {
    void* other = nullptr;
    switch (cbid) {
        case cupti::kNodeCreated: event.op = making_executable ? GraphNodeOp::made_whole : GraphNodeOp::created; break;
        case cupti::kNodeCloned:
        case cupti::kNodeUpdated:
            event.op = cbid == cupti::kNodeCloned ? GraphNodeOp::cloned : GraphNodeOp::updated;
            other = data.original_node;
            if (other == nullptr) return false;
            break;
        case cupti::kDependencyCreated:
        case cupti::kDependencyDestroyed:
            event.op = cbid == cupti::kDependencyCreated ? GraphNodeOp::linked : GraphNodeOp::unlinked;
            other = data.dependency;
            if (other == nullptr) return false;
            break;
        default: return false;
    }
    event.node = id_of_node(cupti, data.node);
    event.other = id_of_node(cupti, other);
    if (event.node == 0 || (other != nullptr && event.other == 0)) return false;
    event.type = static_cast<std::uint8_t>(data.node_type);
    if (data.graph != nullptr && cupti.cuptiGetGraphId != nullptr) cupti.cuptiGetGraphId(data.graph, &event.graph);
    return true;
}

}  // namespace

void watch_graph_nodes(const Cupti& cupti, void* subscriber) noexcept {
    if (settings().graph == GraphDetail::graph || cupti.cuptiGetGraphNodeId == nullptr) return;
    prepare_launch_stacks();
    for (std::uint32_t cbid :
         {cupti::kGraphCreated, cupti::kNodeCreated, cupti::kDependencyCreated, cupti::kDependencyDestroyed,
          cupti::kExecutableStarting, cupti::kExecutableCreated, cupti::kNodeCloned, cupti::kNodeUpdated})
        cupti.cuptiEnableCallback(1, subscriber, kResourceDomain, cbid);  // older versions do not know the last one
}

void on_graph_resource(const Cupti& cupti, std::uint32_t cbid, const void* about) noexcept {
    // If making one failed, the next capture ends it.
    if (cbid == cupti::kExecutableStarting) making_executable = true;
    if (cbid == cupti::kExecutableCreated || cbid == cupti::kGraphCreated) making_executable = false;
    const auto* resource = static_cast<const pcs::Resource*>(about);
    if (resource == nullptr || resource->descriptor == nullptr) return;
    OverheadTimer timed;
    GraphNodeEvent event{};
    if (!read_graph_event(cupti, cbid, *static_cast<const GraphData*>(resource->descriptor), event)) return;
    event.time = static_cast<std::uint64_t>(realtime_ns());
    event.thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
    if (event.op == GraphNodeOp::created)
        if (EventRing* ring = EventRing::of_this_thread()) event.stack = stack_of_this_thread(*ring);
    keep(event);
}

void write_graph_nodes(SpoolFile& file, bool new_file) noexcept {
    if (new_file) written_events = 0;
    std::uint64_t end = graph_events.load(std::memory_order_acquire);
    while (written_events < end) {
        std::size_t begin = static_cast<std::size_t>(written_events % kBlockEvents);
        std::uint64_t count = end - written_events;
        if (count > kBlockEvents - begin) count = kBlockEvents - begin;
        const GraphNodeEvent* events = graph_blocks[written_events / kBlockEvents]->events + begin;
        // What cannot be written counts as unwritten.
        file.write(ChunkKind::spool_graph_nodes,
                   {reinterpret_cast<const char*>(&written_events), sizeof written_events},
                   {reinterpret_cast<const char*>(events), static_cast<std::size_t>(count) * sizeof *events});
        written_events += count;
    }
}

std::uint64_t lost_graph_events() noexcept { return lost_events.load(std::memory_order_relaxed); }

void forget_graph_nodes() noexcept {
    graph_lock = PTHREAD_MUTEX_INITIALIZER;
    graph_events.store(0, std::memory_order_relaxed);
    lost_events.store(0, std::memory_order_relaxed);
    written_events = 0;
    making_executable = false;
}

}  // namespace gpuprof::inject
