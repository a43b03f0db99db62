// The engines of a server of language models in a recording: the threads that run engine steps, and where each step begins.
// Ranges of the host mark it; else scopes or Python functions of the engine; else the copies around each step, or
// its CUDA graphs. Ranges that a recorder projects onto streams come once per stream, and are not used.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyze/facts/device_op.h"
#include "analyze/knowledge/serving_names.h"

namespace gpuprof::inline facts {

enum class StepSource : std::uint8_t { annotation, range, scopes, frames, copies, graphs };

// "annotation", "range", ...
std::string_view name_of(StepSource source);

// One op of the device with the call that launched it.
struct LaunchedOp {
    Row call = kNoRow;
    DeviceOp kind = DeviceOp::none;
    Row row = kNoRow;
    Interval span;
    bool graph = false;  // a part of a launched graph
};

struct EngineStep {
    TimeNs start = 0, end = 0;  // of what marks it on the host; by copies or graphs: of the calls that launch it
    StringId name = kNoString;  // the text of the range
    ServingBatch batch;
};

struct Engine {
    StringId process = kNoString, thread = kNoString;
    std::int32_t device = -1;  // that most of its ops ran on
    StepSource source = StepSource::annotation;
    std::vector<EngineStep> steps;    // by start
    std::vector<LaunchedOp> ops;      // that the thread launched on the device, by launch, then start
    std::vector<Row> graph_launches;  // calls, by start
};

// By thread; empty if the recording is of no such server, or nothing tells its steps apart.
std::vector<Engine> find_engines(const Trace& trace, std::int64_t only_device);

// Whether kernels, processes or Python functions are those of such a server.
bool is_of_a_server(const Trace& trace);

// Tokens and sampled rows of a step, from the small copies around it; a worker's `result_bytes` per row are 8 or 4.
struct CopiedBatch {
    std::optional<std::int64_t> tokens, result_bytes;
};
CopiedBatch batch_of_copies(const Trace& trace, const LaunchedOp* begin, const LaunchedOp* end);

// Steps of an engine that nothing on the host marks, from its ops.
std::vector<EngineStep> steps_by_copies(const Trace& trace, const std::vector<LaunchedOp>& ops);
std::vector<EngineStep> steps_by_graphs(const Trace& trace, const std::vector<LaunchedOp>& ops);

}  // namespace gpuprof::facts
