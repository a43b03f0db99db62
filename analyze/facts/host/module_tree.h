// Calls of framework modules (torch.nn.Module) as a tree of names, and the module that submitted each API call.
// torch.profiler records a module call as a Python call named `nn.Module: Linear_0`: the class, and a number for each
// object of that class. A call is nested in the open module call that began last before it on the same thread, so a
// module that is called on two threads, or from two modules, has one path per place.
// An API call belongs to the innermost module call or backward operator open on its thread when it began. A backward
// operator belongs to the module whose call was open when its forward operator began. Autograd gives both the same
// sequence number, which it counts per thread, from the operator that adds a node to the graph; if several have the
// number, the last one before the backward operator counts. If more than one thread had that number, the forward
// operator and its module are unknown. Work of a CUDA graph whose capture was recorded elsewhere belongs to the module of its node.
#pragma once

#include <string>
#include <vector>

#include "analyze/facts/host/name_paths.h"
#include "analyze/facts/idle/host_timeline.h"
#include "analyze/facts/stat.h"
#include "core/base/pod_vector.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {

// The calls of one path.
struct ModuleCalls {
    std::uint64_t count = 0;
    WideSum host_total;
    WideSum host_self;  // without modules called inside
};

struct ModuleOwner {
    std::uint32_t path = kNoPath;
    bool backward = false;
};

class ModuleTree {
public:
    // `trace` must outlive the tree.
    explicit ModuleTree(const Trace& trace);

    const std::vector<NamePath>& paths() const { return paths_.all(); }
    const std::vector<ModuleCalls>& calls() const { return calls_; }  // by path
    std::string text(std::uint32_t path) const;
    ModuleOwner owner_of_call(Row call) const { return call == kNoRow ? ModuleOwner{} : owner_of_call_[call]; }
    // Of a row of graph_node.
    ModuleOwner owner_of_node(Row node) const { return node == kNoRow ? ModuleOwner{} : owner_of_node_[node]; }
    // Whether the module of any backward operator is known.
    bool backward_known() const { return backward_known_; }

private:
    // The module calls and backward operators of one thread.
    struct Thread {
        StringId process = kNoString;
        HostThread marks;
        PodVector<std::uint32_t> module;  // by mark: path of the innermost module call, including the mark's own
        PodVector<ModuleOwner> owner;     // by mark
        std::uint32_t next = 0;           // first mark that open_at() has not reached
        std::uint32_t open = kNoSpan;     // innermost one open where open_at() is
        std::uint32_t next_backward = 0;  // first mark that next_backward_mark() has not reached
        std::uint32_t open_at(TimeNs time);
        ModuleOwner owner_at(TimeNs time);
        std::uint32_t next_backward_mark();
    };
    void read_threads();
    void add_times(const Thread& thread);
    void find_forward_operators();
    void place_calls();
    void place_nodes();
    bool is_mark(const HostSpan& span) const;
    Thread* thread_of(StringId key);

    const Trace& trace_;
    NamePaths paths_;
    std::vector<ModuleCalls> calls_;
    std::vector<Thread> threads_;
    std::vector<std::uint32_t> thread_by_string_;
    PodVector<ModuleOwner> owner_of_call_;
    std::vector<ModuleOwner> owner_of_node_;
    bool backward_known_ = false;
};

}  // namespace gpuprof::facts
