// Stacks of launches (HostEventOp::launch_stack of core/format/spool.h) as texts: Python's frames, and below them the native
// ones between Python and the launch. Frames of the recorder, of CUPTI, of the driver and the runtime, of the interpreter,
// and of the C library's start of a thread are omitted. And what happened to nodes of graphs, which have such stacks too.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/format/spool.h"
#include "core/model/build/trace_builder.h"
#include "io/importers/spool/native_names.h"

namespace gpuprof::inline importers {

class SpoolLaunchStacks {
public:
    void add_stack(const spool::HostEvent& event, std::string_view text);
    void add_launch(const spool::HostEvent& event);
    // Of the calls in the rows from `first`.
    void finish(Batch& batch, Row first, NativeNames names) const;
    // The stack of this id as text; kNoString: it is not in the recording. `known`: texts so far.
    StringId text_of(Batch& batch, std::uint64_t stack, NativeNames& names,
                     std::unordered_map<std::uint64_t, StringId>& known) const;

private:
    std::unordered_map<std::uint64_t, std::string> stacks_;     // by id
    std::unordered_map<std::int64_t, std::uint64_t> launches_;  // ids by correlation id
};

// Events of graph nodes (struct GraphNodeEvent) as rows of graph_node and graph_edge.
class SpoolGraphNodes {
public:
    // Of one chunk; false: damaged. A later part of the process repeats what earlier parts have.
    bool take(std::string_view payload);
    // Of the threads that are returned by `thread_key`.
    void finish(Batch& batch, StringId process, const SpoolLaunchStacks& stacks, NativeNames& names,
                const std::function<StringId(std::uint32_t)>& thread_key) const;

private:
    bool second_waits() const;
    void add_edges(GraphEdgeTable& edges, StringId process) const;

    std::vector<spool::GraphNodeEvent> events_;
    std::uint64_t next_ = 0;  // number of the next event
};

// The text of one stack, for stack_sample and api_call. `stack` as in HostEventOp::stack_name.
std::string launch_stack_text(std::string_view stack, NativeNames& names);

}  // namespace gpuprof::importers
