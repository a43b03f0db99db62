// Folded stacks, one line each: frames from outermost to innermost, separated by `;`, a space, a number. flamegraph.pl,
// inferno and speedscope read them. `;` inside a frame becomes `,`; line ends and tabs become spaces; lines are
// harmless, as CSV fields are.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/base/files/sink.h"
#include "core/base/result.h"
#include "core/base/text/csv.h"
#include "core/base/text/python_frame.h"
#include "core/base/text/utf8.h"
#include "io/exporters/call_tree.h"
#include "io/exporters/exporter.h"
#include "io/exporters/instruction_samples.h"
#include "io/exporters/lanes.h"

namespace gpuprof::inline exporters {

namespace {

// One line for each node of a tree that has a value. Memory is linear in the nodes; the text is not, because a line repeats the frames of all
// callers, so it has a limit.
constexpr std::uint64_t kMaxFoldedBytes = std::uint64_t{1} << 30;

std::string folded_frame(std::string_view name) {
    std::string text = printable(name);
    std::replace(text.begin(), text.end(), ';', ',');
    return text;
}

struct FoldedNode {
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;
    std::uint32_t parent;  // before the node; kNone: outermost
    std::int64_t value;    // no line unless it is above 0
};

// `prefix`: what every line begins with, such as "thread 1;". `frame(node)`: the text of its frame.
template <class Frame>
Status write_folded(const std::vector<FoldedNode>& nodes, std::string_view prefix, Frame&& frame, Sink& sink) {
    std::vector<std::uint64_t> lengths(nodes.size());
    std::uint64_t total = 0, depth = 0;
    std::vector<std::uint32_t> depths(nodes.size()), line;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        bool outermost = nodes[i].parent == FoldedNode::kNone;
        lengths[i] = (outermost ? prefix.size() : lengths[nodes[i].parent] + 1) + frame(i).size();
        depths[i] = outermost ? 1 : depths[nodes[i].parent] + 1;
        if (nodes[i].value > 0) {
            total += lengths[i];
            depth = std::max<std::uint64_t>(depth, depths[i]);
        }
    }
    if (total > kMaxFoldedBytes)
        return Error{
            ExitCode::unreadable,
            fmt::format("the stacks would be {} MiB of text, because up to {} frames are nested; the limit is {} MiB",
                        total >> 20, depth, kMaxFoldedBytes >> 20)};
    for (std::size_t i = 0; i < nodes.size() && !sink.failed(); ++i) {
        if (nodes[i].value <= 0) continue;
        line.clear();
        for (auto at = static_cast<std::uint32_t>(i); at != FoldedNode::kNone; at = nodes[at].parent)
            line.push_back(at);
        sink.write(prefix);
        for (std::size_t at = line.size(); at-- > 0;) {
            sink.write(frame(line[at]));
            if (at > 0) sink.write(";");
        }
        sink.write(fmt::format(" {}\n", nodes[i].value));
    }
    return {};
}

// Python stacks as folded stacks, with the thread as the outermost frame: sampled stacks with their sample counts or,
// without samples, the Python calls that the framework's profiler recorded, with the exclusive time of each stack in
// ns. Frames are `function (file:line)` in both; for calls, the line is that of the definition. Truncated stacks start
// with `...`.

std::string thread_frame(const Trace& trace, StringId thread) {
    return "thread " + (thread == kNoString ? std::string("unknown") : folded_frame(trace.text(thread)));
}

void write_samples(const Trace& trace, Sink& sink) {
    const StackSampleTable& samples = trace.tables().stack_sample;
    std::map<std::tuple<StringId, int, StringId>, std::uint64_t> counts;
    for (Row row = 0; row < samples.rows; ++row)
        if (samples.stack.has(row))
            ++counts[{samples.thread.value_or(row, kNoString), samples.cut.value_or(row, 0), samples.stack[row]}];
    for (const auto& [key, count] : counts) {
        auto [thread, cut, stack] = key;
        sink.write(fmt::format("{};{}{} {}\n", thread_frame(trace, thread), cut != 0 ? "...;" : "",
                               printable(trace.text(stack)), count));
    }
}

// The stacks of one thread's calls as a tree: each node has its function and its exclusive time.
class CallPaths {
public:
    explicit CallPaths(const Trace& trace) : trace_(trace) {}

    // `calls` in the order of sort_outer_first. Time belongs to the open call that started last.
    void add(const std::vector<PlacedSpan>& calls) {
        TimeNs now = 0;
        auto spend = [&](TimeNs until) {
            if (!open_.empty() && until > now) nodes_[open_.back().node].self += until - now;
            now = std::max(now, until);
        };
        auto close = [&](TimeNs until) {
            for (; !open_.empty() && open_.back().end <= until; open_.pop_back()) spend(open_.back().end);
        };
        for (const PlacedSpan& call : calls) {
            close(call.start);
            spend(call.start);
            now = call.start;
            open_.push_back({call.end, below(open_.empty() ? kTop : open_.back().node,
                                             trace_.tables().python_call.name.value_or(call.row, kNoString))});
        }
        close(INT64_MAX);
    }
    Status write(std::string_view thread, Sink& sink) const {
        std::vector<FoldedNode> nodes;
        for (const Node& node : nodes_) nodes.push_back({node.parent, node.self});
        return write_folded(
            nodes, fmt::format("{};", thread),
            [&](std::size_t i) { return folded_frame(to_text(parse_python_call(trace_.text(nodes_[i].name)))); }, sink);
    }

private:
    static constexpr std::uint32_t kTop = FoldedNode::kNone;
    struct Node {
        std::uint32_t parent;
        StringId name;
        DurNs self;
    };
    struct Open {
        TimeNs end;
        std::uint32_t node;
    };
    std::uint32_t below(std::uint32_t parent, StringId name) {
        auto [known, added] = children_.try_emplace({parent, name}, static_cast<std::uint32_t>(nodes_.size()));
        if (added) nodes_.push_back({parent, name, 0});
        return known->second;
    }
    const Trace& trace_;
    std::vector<Node> nodes_;  // a parent comes before its children
    std::map<std::pair<std::uint32_t, StringId>, std::uint32_t> children_;
    std::vector<Open> open_;
};

Status write_calls(const Trace& trace, Sink& sink) {
    const PythonCallTable& table = trace.tables().python_call;
    std::map<StringId, std::vector<PlacedSpan>> threads;
    for (Row row = 0; row < table.rows; ++row)
        threads[table.thread.value_or(row, kNoString)].push_back(
            {table.start[row], table.start[row] + table.dur[row], 0, row});
    for (auto& [thread, calls] : threads) {
        sort_outer_first(calls);
        CallPaths paths(trace);
        paths.add(calls);
        Status written = paths.write(sanitized_text(thread_frame(trace, thread)), sink);
        if (!written) return written;
    }
    return {};
}

}  // namespace

Status export_folded(const Trace& trace, Sink& sink) {
    CallTree tree = call_tree(trace);
    std::vector<FoldedNode> nodes;
    for (const CallTree::Node& node : tree.nodes)
        nodes.push_back({node.parent == CallTree::kNone ? FoldedNode::kNone : static_cast<std::uint32_t>(node.parent),
                         node.device_ns});
    return write_folded(
        nodes, "",
        [&](std::size_t i) {
            std::string text = folded_frame(tree.nodes[i].name);
            return nodes[i].parent == FoldedNode::kNone ? sanitized_text(text) : text;
        },
        sink);
}

Status export_folded_python(const Trace& trace, Sink& sink) {
    if (trace.tables().stack_sample.rows == 0) return write_calls(trace, sink);
    write_samples(trace, sink);
    return {};
}

// Warp samples of instructions as folded stacks: kernel, source line, stall reason. Every kernel has its own tree; a line
// without source is `unknown line`.

Status export_folded_source(const Trace& trace, Sink& sink) {
    for (const InstructionSamples& each : instruction_samples(trace)) {
        std::string line = each.line > 0 ? fmt::format("{}:{}", folded_frame(each.file), each.line) : "unknown line";
        std::string stack = fmt::format("{};{};{}", folded_frame(each.kernel), line, folded_frame(each.reason));
        sink.write(fmt::format("{} {}\n", sanitized_text(stack), each.count));
    }
    return {};
}

}  // namespace gpuprof::exporters
