// CUDA graphs as CUPTI shows them: callbacks about graphs, nodes and dependencies, and ids of both, for programs that make graphs
// with the functions at the end. What a launched graph does is a script, whose records name the executable graph's nodes.
//
// Ids as PyTorch describes them (torch/cuda/_graph_annotations.py): a node's is the graph's in the upper half and its number in
// the lower one, from 1. Graphs count from 1; with the fault of a test, a destroyed graph's number is given again. The order of
// callbacks is that of NVIDIA's sample cuda_graphs_trace: making an executable graph creates each node and then says what it was
// cloned from. The bodies of conditional nodes and child graphs are graphs of their own.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "tests/fakes/cupti/client.h"
#include "tests/fakes/cupti/cupti_play.h"
#include "tests/fakes/cupti/interface.h"

using namespace fake_cupti;

namespace {

enum Callback : std::uint32_t {  // CUpti_CallbackIdResource
    kGraphCreated = 9,
    kGraphDestroyStarting = 10,
    kGraphCloned = 11,
    kNodeCreateStarting = 12,
    kNodeCreated = 13,
    kNodeDestroyStarting = 14,
    kDependencyCreated = 15,
    kDependencyDestroyStarting = 16,
    kExecutableCreateStarting = 17,
    kExecutableCreated = 18,
    kNodeCloned = 20,
    kNodeUpdated = 22,
};
enum Function : std::uint32_t { kLaunchKernel = 211, kBeginCapture = 315, kEndCapture = 319, kInstantiate = 443 };
enum NodeType : std::uint32_t { kKernelNode = 0, kChildGraph = 4, kConditional = 13 };

struct Graph;
struct Node {
    Graph* graph = nullptr;
    std::uint64_t id = 0;
    std::uint32_t type = kKernelNode;
    std::vector<Node*> after;
    Graph* body = nullptr;  // of a child graph or conditional node
};
struct Graph {
    std::uint32_t id = 0;
    bool executable = false;
    std::vector<std::unique_ptr<Node>> nodes;
};

std::mutex lock;
std::uint32_t graphs = 0;
std::set<std::uint32_t> free_ids;
bool reversed = false;  // which of the two nodes the field `dependency` is

struct GraphData {  // CUpti_GraphData
    Graph* graph = nullptr;
    Graph* original_graph = nullptr;
    Node* node = nullptr;
    Node* original_node = nullptr;
    std::uint32_t type = 0;
    Node* dependency = nullptr;
    Graph* executable = nullptr;
};

void tell(std::uint32_t cbid, const GraphData& data) {
    struct {
        void *context, *stream;
        const void* descriptor;
    } about{nullptr, nullptr, &data};  // CUpti_ResourceData
    call_back(kResourceDomain, cbid, &about);
}

Graph* make_graph(Graph* original) {
    auto* made = new Graph;
    {
        std::lock_guard<std::mutex> held(lock);
        made->id = free_ids.empty() ? ++graphs : free_ids.extract(free_ids.begin()).value();
    }
    if (original == nullptr) tell(kGraphCreated, {.graph = made});
    return made;
}

Node* make_node(Graph& graph, std::uint32_t type) {
    tell(kNodeCreateStarting, {.graph = &graph, .type = type});
    auto node = std::make_unique<Node>();
    node->graph = &graph;
    node->type = type;
    node->id = std::uint64_t{graph.id} << 32 | (graph.nodes.size() + 1);
    graph.nodes.push_back(std::move(node));
    tell(kNodeCreated, {.graph = &graph, .node = graph.nodes.back().get(), .type = type});
    return graph.nodes.back().get();
}

void tell_dependency(std::uint32_t cbid, Graph& graph, Node& node, Node& after) {
    Node *one = &node, *other = &after;
    if (reversed) std::swap(one, other);
    tell(cbid, {.graph = &graph, .node = other, .type = other->type, .dependency = one});
}

void link(Graph& graph, Node& node, Node& after) {
    node.after.push_back(&after);
    tell_dependency(kDependencyCreated, graph, node, after);
}

Graph* clone_graph(Graph& original, bool executable) {
    Graph* made = make_graph(&original);
    made->executable = executable;
    if (!executable) tell(kGraphCloned, {.graph = made, .original_graph = &original});
    for (const auto& node : original.nodes) {
        Node* copy = make_node(*made, node->type);
        tell(kNodeCloned, {.graph = made,
                           .original_graph = &original,
                           .node = copy,
                           .original_node = node.get(),
                           .type = node->type});
        for (Node* after : node->after) {
            std::size_t at = 0;
            while (original.nodes[at].get() != after) ++at;
            copy->after.push_back(made->nodes[at].get());
        }
        if (node->body != nullptr) copy->body = clone_graph(*node->body, executable);
    }
    return made;
}

void update(Graph& executable, Graph& by) {
    for (std::size_t i = 0; i < executable.nodes.size() && i < by.nodes.size(); ++i) {
        tell(kNodeUpdated, {.graph = &executable,
                            .node = executable.nodes[i].get(),
                            .original_node = by.nodes[i].get(),
                            .type = by.nodes[i]->type,
                            .executable = &executable});
        if (executable.nodes[i]->body != nullptr && by.nodes[i]->body != nullptr)
            update(*executable.nodes[i]->body, *by.nodes[i]->body);
    }
}

}  // namespace

extern "C" {

int cuptiGetGraphNodeId(Node* node, std::uint64_t* id) {
    GATE();
    if (node == nullptr || id == nullptr) return kInvalidParameter;
    *id = node->id;
    return kSuccess;
}

int cuptiGetGraphId(Graph* graph, std::uint32_t* id) {
    GATE();
    if (graph == nullptr || id == nullptr) return kInvalidParameter;
    *id = graph->id;
    return kSuccess;
}

// Of programs in tests. A stream's capture begins; nodes are added by calls that the capture turns into nodes.
Graph* fake_cupti_graph() {
    call_function(kRuntimeDomain, kBeginCapture);
    return make_graph(nullptr);
}
// A node that waits for the given ones; `body`: the graph of a child graph or conditional node, which is copied.
Node* fake_cupti_graph_node(Graph* graph, std::uint32_t type, Node** after, std::size_t count, Graph* body) {
    if (type == kKernelNode) call_function(kRuntimeDomain, kLaunchKernel);
    Node* node = make_node(*graph, type);
    for (std::size_t i = 0; i < count; ++i) link(*graph, *node, *after[i]);
    if (body != nullptr) node->body = type == kConditional ? body : clone_graph(*body, false);
    return node;
}
void fake_cupti_graph_unlink(Node* node, Node* after) {
    std::erase(node->after, after);
    tell_dependency(kDependencyDestroyStarting, *node->graph, *node, *after);
}
void fake_cupti_graph_captured() { call_function(kRuntimeDomain, kEndCapture); }
Graph* fake_cupti_graph_clone(Graph* graph) { return clone_graph(*graph, false); }
// Null: it fails, after it began.
Graph* fake_cupti_graph_instantiate(Graph* graph, bool fails) {
    call_function(kRuntimeDomain, kInstantiate);
    tell(kExecutableCreateStarting, {.graph = graph});
    if (fails) return nullptr;
    Graph* made = clone_graph(*graph, true);
    tell(kExecutableCreated, {.graph = graph, .executable = made});
    return made;
}
void fake_cupti_graph_update(Graph* executable, Graph* by) { update(*executable, *by); }
// With its dependencies and nodes; `again`: its id may be given again.
void fake_cupti_graph_destroy(Graph* graph, bool again) {
    for (const auto& node : graph->nodes) {
        for (Node* after : node->after) tell_dependency(kDependencyDestroyStarting, *graph, *node, *after);
        tell(kNodeDestroyStarting, {.graph = graph, .node = node.get(), .type = node->type});
    }
    tell(kGraphDestroyStarting, {.graph = graph});
    std::lock_guard<std::mutex> held(lock);
    if (again) free_ids.insert(graph->id);
    delete graph;
}
std::uint64_t fake_cupti_graph_node_id(Node* node) { return node->id; }
// The n-th node of a graph.
Node* fake_cupti_graph_node_at(Graph* graph, std::size_t n) {
    return n < graph->nodes.size() ? graph->nodes[n].get() : nullptr;
}
Graph* fake_cupti_graph_body(Node* node) { return node->body; }
// Whether `dependency` is the node that is waited for, not the one that waits.
void fake_cupti_graph_reverse(bool now) { reversed = now; }
}
