// Folded stacks, one line each: frames from the outside in with `;` between them, a space, a number. flamegraph.pl, inferno and
// speedscope read them. `;` and line ends inside a frame become `,` and spaces.
#include <fmt/format.h>

#include <map>

#include "core/exporters/call_tree.h"
#include "core/exporters/exporter.h"

namespace gpuprof {
namespace {

std::string frame(std::string_view name) {
    std::string text(name);
    for (char& c : text) c = c == ';' ? ',' : c == '\n' || c == '\r' ? ' ' : c;
    return text;
}

}  // namespace

Status export_folded(const Trace& trace, Sink& sink) {
    CallTree tree = call_tree(trace);
    std::vector<std::string> paths(tree.nodes.size());
    for (std::size_t i = 0; i < tree.nodes.size() && !sink.failed(); ++i) {
        const CallTree::Node& node = tree.nodes[i];
        paths[i] = node.parent == CallTree::kNone ? frame(node.name) : paths[node.parent] + ";" + frame(node.name);
        if (node.device_ns > 0) sink.write(fmt::format("{} {}\n", paths[i], node.device_ns));
    }
    return {};
}

// A thread is the outermost frame. Stacks that were cut begin with `...`.
Status export_folded_python(const Trace& trace, Sink& sink) {
    const StackSampleTable& samples = trace.tables().stack_sample;
    std::map<std::tuple<StringId, int, StringId>, std::uint64_t> counts;
    for (Row row = 0; row < samples.rows; ++row)
        if (samples.stack.has(row))
            ++counts[{samples.thread.value_or(row, kNoString), samples.cut.value_or(row, 0), samples.stack[row]}];
    for (const auto& [key, count] : counts) {
        auto [thread, cut, stack] = key;
        std::string text(trace.text(stack));
        for (char& c : text) c = c == '\n' || c == '\r' ? ' ' : c;
        sink.write(fmt::format("thread {};{}{} {}\n", thread == kNoString ? "not known" : frame(trace.text(thread)),
                               cut != 0 ? "...;" : "", text, count));
    }
    return {};
}

}  // namespace gpuprof
