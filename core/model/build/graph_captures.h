// Recordings of CUDA graph captures, and what they say about the graphs' launches in other recordings.
//
// Inference servers capture graphs at start-up and launch them in every step. The recording of a launch has device ops without
// operators; the recording of the capture (vLLM and SGLang write one for each captured size) has operators, modules and stacks
// around launches that have no device op. The calls of one capture and the ops of one launch are the same list, in order, so
// each op is given what was around its call. All or nothing: a launch with an op that has no call gets nothing, and says why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/build/merge_traces.h"
#include "core/model/trace.h"

namespace gpuprof::inline model {

// The captures for one size of the batch: one of the whole step, or one for each of its pieces.
struct GraphCapture {
    std::string name;                      // of the annotation: capture_32_DECODE; "" if there is none
    std::optional<std::int64_t> size;      // tokens that it was captured for
    std::vector<std::vector<Row>> graphs;  // the launches, copies and fills of each, rows of api_call in host order
};

// Empty if the trace launches graphs, or has more device work than the warm-up of a capture: then it is a recording of a program.
std::vector<GraphCapture> graph_captures_of(const Trace& trace, std::string_view file);

// The meta key of a recording of captures alone: "capture_32_DECODE: 544 launches in 1 graph".
inline constexpr const char* kGraphCapture = "graph_capture";
Trace note_captures(Trace trace, const std::vector<GraphCapture>& captures);

// `trace` with what `parts`, recordings of captures, say about its graphs: ops of launches name an operator, whose row is at the
// start of the launch and takes no time, and a node with module and stack. What matched, and why the rest did not, is in meta.
Trace name_graph_ops(Trace trace, const std::vector<JobPart>& parts);

}  // namespace gpuprof::model
