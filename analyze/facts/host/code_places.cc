#include "analyze/facts/host/code_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analyze/facts/facts.h"
#include "analyze/facts/host/graph_origins.h"
#include "analyze/facts/host/own_frames.h"
#include "analyze/facts/idle/idle_calls.h"
#include "analyze/facts/kernels/op_rates.h"
#include "core/base/text/python_frame.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {
namespace {

// Host records up to which a first answer looks for places: it takes 0.1 s for a million.
constexpr std::size_t kMostRecords = 2'000'000;
constexpr std::size_t kMostDims = 80, kMostModules = 3, kMostRanges = 3;
constexpr std::string_view kModule = "nn.Module: ", kStep = "ProfilerStep#";
constexpr std::string_view kCommsRecord = "record_param_comms";  // an operator that only describes the one around it

}  // namespace

// What surrounds a call, innermost first.
struct CodePlaces::Around {
    Row op = kNoRow, backward = kNoRow;  // rows of op
    std::string line, captured_op;
    std::vector<std::string_view> modules, ranges;
};

void CodePlaces::look_around(const Trace& trace, const HostThread& thread, TimeNs time, Around& found) {
    for (std::uint32_t at = thread.innermost_at(time); at != kNoSpan; at = thread.spans[at].parent) {
        const HostSpan& span = thread.spans[at];
        if (span.name == kNoString) continue;
        std::string_view name = trace.text(span.name);
        if (span.kind == HostKind::op) {
            if (found.op == kNoRow || trace.text(trace.op().name[found.op]) == kCommsRecord) found.op = span.row;
            if (trace.op().forward_thread.value_or(span.row, 0) > 0 && trace.op().sequence.has(span.row))
                found.backward = span.row;
        } else if (span.kind == HostKind::range && !name.starts_with(kStep)) {
            bool again = !found.ranges.empty() && found.ranges.back() == name;
            if (!again && found.ranges.size() < kMostRanges) found.ranges.push_back(name);
        } else if (span.kind == HostKind::python_call && name.starts_with(kModule)) {
            if (found.modules.size() < kMostModules) found.modules.push_back(name.substr(kModule.size()));
        } else if (span.kind == HostKind::python_call && found.line.empty() && !of_a_library(name)) {
            found.line = to_text(parse_python_call(name));
        }
    }
}

namespace {

// The forward operator of a backward operator: the last one before it with its sequence number.
Row forward_of(const Trace& trace, Row backward) {
    const OpTable& ops = trace.op();
    Row found = kNoRow;
    for (Row row = 0; row < backward; ++row)
        if (ops.sequence.has(row) && ops.sequence[row] == ops.sequence[backward] &&
            ops.forward_thread.value_or(row, 0) == 0)
            found = row;
    return found;
}

// The innermost frame of a recorded stack that is the program's own, or the innermost Python frame.
std::string line_of_stack(std::string_view stack) {
    std::string_view own;
    each_frame(stack, [&](std::string_view frame) {
        if (parse_frame(frame).line >= 0 && !of_a_library(frame)) own = frame;
    });
    return std::string(own.empty() ? launch_place(stack) : own);
}

// Of an operator; of a node, of the operator that created it.
template <class Table>
std::string operator_text(const Trace& trace, const Table& table, Row row) {
    StringId name = kNoString;
    if constexpr (requires { table.op; })
        name = table.op.value_or(row, kNoString);
    else
        name = table.name.value_or(row, kNoString);
    std::string text(trace.text(name));
    std::string_view dims = trace.text(table.input_dims.value_or(row, kNoString));
    if (dims.find_first_of("123456789") == dims.npos) return text;
    if (dims.size() <= kMostDims) return fmt::format("{} {}", text, dims);
    return fmt::format("{} {}...", text, dims.substr(0, dims.rfind(']', kMostDims) + 1));
}

std::string path_of(const std::vector<std::string_view>& innermost_first) {
    std::string path;
    for (std::string_view name : innermost_first)
        path = path.empty() ? std::string(name) : fmt::format("{}/{}", name, path);
    return path;
}

}  // namespace

std::string CodePlaces::joined(const Trace& trace, const Around& found) {
    std::string text = found.op == kNoRow ? found.captured_op : operator_text(trace, trace.op(), found.op);
    auto add = [&](std::string_view before, std::string_view what) {
        if (!what.empty()) text += text.empty() ? std::string(what) : fmt::format("{}{}", before, what);
    };
    add(found.backward == kNoRow ? " in " : " in the backward pass of ", path_of(found.modules));
    add(", ", found.line);
    add(", in range ", path_of(found.ranges));
    return text;
}

CodePlaces CodePlaces::make(const Facts& facts) {
    CodePlaces found;
    const Trace& trace = facts.trace();
    std::size_t records = trace.op().rows + trace.range().rows + trace.tables().python_call.rows;
    if (records > 0 && records <= kMostRecords)
        found.timeline_.emplace(trace, HostKinds{HostKind::range, HostKind::python_call, HostKind::op});
    return found;
}

std::string CodePlaces::of_call(const Facts& facts, Row call) const {
    const Trace& trace = facts.trace();
    const ApiCallTable& calls = trace.api_call();
    if (call == kNoRow) return "";
    Around found;
    if (timeline_)
        look_around(trace, timeline_->spans(calls.thread.value_or(call, kNoString)), calls.start[call], found);
    return finished(trace, found, calls.stack.value_or(call, kNoString));
}

// The text, with what the forward operator and stacks add.
std::string CodePlaces::finished(const Trace& trace, Around& found, StringId stack) const {
    if (found.backward != kNoRow && timeline_) {
        if (Row forward = forward_of(trace, found.backward); forward != kNoRow) {
            Around before;
            look_around(trace, timeline_->spans(trace.op().thread.value_or(forward, kNoString)),
                        trace.op().start[forward], before);
            found.modules = before.modules;
            if (found.line.empty()) found.line = before.line;
        }
    }
    if (found.op != kNoRow && found.line.empty())
        found.line = line_of_stack(trace.text(trace.op().call_stack.value_or(found.op, kNoString)));
    if (found.line.empty()) found.line = line_of_stack(trace.text(stack));
    return joined(trace, found);
}

std::string CodePlaces::of_kernel(const Facts& facts, Row kernel) const {
    const Trace& trace = facts.trace();
    const KernelTable& kernels = trace.kernel();
    if (kernel == kNoRow) return "";
    Row origin = facts.get<GraphOrigins>().of_kernel(trace, kernel);
    std::string text = of_graph_node(facts, origin);
    bool captured = !text.empty();
    if (!captured) text = of_call(facts, trace.links().kernel_launch[kernel]);
    auto add = [&](std::string what) { text += text.empty() ? what : fmt::format(", {}", what); };
    if (kernels.hlo_op.has(kernel)) add(fmt::format("XLA instruction {}", trace.text(kernels.hlo_op[kernel])));
    if (kernels.framework_op.has(kernel)) add(std::string(trace.text(kernels.framework_op[kernel])));
    if (kernels.graph_node_id.has(kernel))
        add(kernels.graph_id.has(kernel)
                ? fmt::format("node {} of CUDA graph {}", kernels.graph_node_id[kernel], kernels.graph_id[kernel])
                : fmt::format("node {} of a CUDA graph", kernels.graph_node_id[kernel]));
    if (captured)
        if (std::string launched = of_call(facts, trace.links().kernel_launch[kernel]); !launched.empty())
            add("launched in " + launched);
    return text;
}

std::string CodePlaces::of_graph_node(const Facts& facts, Row node) const {
    const Trace& trace = facts.trace();
    const GraphNodeTable& nodes = trace.tables().graph_node;
    if (node == kNoRow) return "";
    Around found;
    if (timeline_ && nodes.thread.has(node))
        look_around(trace, timeline_->spans(nodes.thread[node]), nodes.time[node], found);
    found.captured_op = operator_text(trace, nodes, node);
    if (nodes.module.has(node)) found.modules = {trace.text(nodes.module[node])};
    return finished(trace, found, nodes.stack.value_or(node, kNoString));
}

std::string CodePlaces::of_kernels(const Facts& facts, const std::function<bool(Row kernel)>& selected) const {
    const KernelTable& kernels = facts.trace().kernel();
    const OpRates& rates = facts.get<OpRates>();
    struct Sum {
        DurNs all = 0, longest = -1;
        Row row = kNoRow;
    };
    std::map<std::uint32_t, Sum> sums;  // by kind of operator; those without shapes together
    for (Row row = 0; row < kernels.rows; ++row) {
        if (!selected(row)) continue;
        Sum& sum = sums[rates.rate_of_kernel.empty() ? kNoRow : rates.rate_of_kernel[row]];
        sum.all += kernels.dur[row];
        if (kernels.dur[row] <= sum.longest) continue;
        sum.longest = kernels.dur[row];
        sum.row = row;
    }
    auto most = std::max_element(sums.begin(), sums.end(),
                                 [](const auto& a, const auto& b) { return a.second.all < b.second.all; });
    return most == sums.end() ? "" : of_kernel(facts, most->second.row);
}

}  // namespace gpuprof::facts
