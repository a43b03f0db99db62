// Engine steps that nothing on the host marks. vLLM ends each step with one copy of the sampled ids to the host, 8 or 4 bytes for
// each row, and begins it with small copies of the inputs, among them one of n bytes followed by one of 2 n: ids of 4
// bytes and positions or slots of 8 for each token. Full graphs are one launch per step; piecewise ones several, between
// which nothing is copied.
// Checked on 42 steps of three recordings of vLLM; a slice without sampling has no copy of results.
#include <algorithm>

#include "analyze/facts/steps/engines.h"

namespace gpuprof::inline facts {
namespace {

constexpr std::int64_t kMaxResult = 65'536;  // bytes; copies of logits are larger
constexpr std::size_t kStepKernels = 16;     // of a step; what has fewer belongs to the next one
constexpr std::size_t kInputKernels = 16;    // kernels of a step after which no input is copied

std::string_view kind_of_copy(const Trace& trace, const LaunchedOp& op) {
    return op.kind == DeviceOp::memcpy ? trace.text(trace.memcpy().kind.value_or(op.row, kNoString)) : "";
}

bool is_result(const Trace& trace, const LaunchedOp& op) {
    return !op.graph && kind_of_copy(trace, op) == "DtoH" && trace.memcpy().bytes.value_or(op.row, 0) > 0 &&
           trace.memcpy().bytes.value_or(op.row, 0) <= kMaxResult && trace.memcpy().bytes[op.row] % 4 == 0;
}

EngineStep step_of(const Trace& trace, const LaunchedOp& first, const LaunchedOp& last) {
    const ApiCallTable& calls = trace.api_call();
    return {calls.start[first.call], calls.start[last.call] + calls.dur[last.call], kNoString, {}};
}

// Cuts the ops where starts(i) says that op i begins a step; steps with few kernels join the next one.
template <class Starts>
std::vector<EngineStep> cut(const Trace& trace, const std::vector<LaunchedOp>& ops, Starts&& starts) {
    std::vector<EngineStep> steps;
    std::size_t begin = 0, kernels = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        if (i > begin && kernels >= kStepKernels && starts(i)) {
            steps.push_back(step_of(trace, ops[begin], ops[i - 1]));
            begin = i;
            kernels = 0;
        }
        kernels += ops[i].kind == DeviceOp::kernel;
    }
    if (kernels >= kStepKernels)
        steps.push_back(step_of(trace, ops[begin], ops.back()));
    else if (!steps.empty())
        steps.back().end = step_of(trace, ops[begin], ops.back()).end;
    return steps;
}

bool is_input(const Trace& trace, const LaunchedOp& op) {
    return !op.graph && kind_of_copy(trace, op) == "HtoD" && trace.memcpy().bytes.value_or(op.row, 0) > 0;
}

}  // namespace

CopiedBatch batch_of_copies(const Trace& trace, const LaunchedOp* begin, const LaunchedOp* end) {
    CopiedBatch found;
    std::size_t kernels = 0;
    std::int64_t last = 0;
    for (const LaunchedOp* op = begin; op != end; ++op) {
        if (op->graph || op->kind == DeviceOp::kernel) kernels += op->graph ? kInputKernels : 1;
        if (is_result(trace, *op)) found.result_bytes = trace.memcpy().bytes[op->row];
        if (kernels >= kInputKernels || !is_input(trace, *op)) continue;
        std::int64_t bytes = trace.memcpy().bytes[op->row];
        if (last > 0 && last % 4 == 0 && bytes == 2 * last) found.tokens = last / 4;
        last = bytes;
    }
    return found;
}

std::vector<EngineStep> steps_by_copies(const Trace& trace, const std::vector<LaunchedOp>& ops) {
    bool results = std::any_of(ops.begin(), ops.end(), [&](const LaunchedOp& op) { return is_result(trace, op); });
    if (results) return cut(trace, ops, [&](std::size_t i) { return is_result(trace, ops[i - 1]); });
    // Without results, a step begins with the run of input copies that has the pair.
    bool pairs = false;
    std::vector<bool> starts(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
        if (!is_input(trace, ops[i])) continue;
        std::size_t run = i;
        std::int64_t last = 0;
        bool pair = false;
        for (; i < ops.size() && ops[i].kind == DeviceOp::memcpy && !ops[i].graph; ++i) {
            if (!is_input(trace, ops[i])) continue;
            std::int64_t bytes = trace.memcpy().bytes[ops[i].row];
            pair = pair || (last > 0 && last % 4 == 0 && bytes == 2 * last);
            last = bytes;
        }
        starts[run] = pair;
        pairs = pairs || pair;
    }
    if (!pairs) return {};
    return cut(trace, ops, [&](std::size_t i) { return bool(starts[i]); });
}

std::vector<EngineStep> steps_by_graphs(const Trace& trace, const std::vector<LaunchedOp>& ops) {
    auto graph = [](const LaunchedOp& op) { return op.graph; };
    if (std::none_of(ops.begin(), ops.end(), graph)) return {};
    // A step begins with the first input that is copied after a launched graph.
    bool copied = std::any_of(ops.begin(), ops.end(), [&](const LaunchedOp& op) { return is_input(trace, op); });
    std::vector<Row> launches;
    for (const LaunchedOp& op : ops)
        if (op.graph && (launches.empty() || launches.back() != op.call)) launches.push_back(op.call);
    if (!copied && launches.size() > 1) return {};
    bool launched = false;
    return cut(trace, ops, [&](std::size_t i) {
        launched = launched || ops[i - 1].graph;
        bool starts = launched && is_input(trace, ops[i]);
        if (starts) launched = false;
        return starts;
    });
}

}  // namespace gpuprof::facts
