// Folded stacks, one line each: frames from outermost to innermost, separated by `;`, a space, a number. flamegraph.pl,
// inferno and speedscope read them. `;` inside a frame becomes `,`; line ends and tabs become spaces; lines are
// harmless, as CSV fields are.
#include "core/base/text/csv.h"
#include "io/exporters/call_tree.h"
#include "io/exporters/exporter.h"
#include "io/exporters/folded_frame.h"

namespace gpuprof::inline exporters {
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

}  // namespace gpuprof::exporters
