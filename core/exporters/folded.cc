// Folded stacks, one line each: frames from outermost to innermost, separated by `;`, a space, a number. flamegraph.pl,
// inferno and speedscope read them. `;` inside a frame becomes `,`; line ends and tabs become spaces; lines are
// harmless, as CSV fields are.
#include <fmt/format.h>

#include "core/base/csv.h"
#include "core/exporters/call_tree.h"
#include "core/exporters/exporter.h"
#include "core/exporters/folded_frame.h"

namespace gpuprof::inline exporters {
Status export_folded(const Trace& trace, Sink& sink) {
    CallTree tree = call_tree(trace);
    std::vector<std::string> paths(tree.nodes.size());
    for (std::size_t i = 0; i < tree.nodes.size() && !sink.failed(); ++i) {
        const CallTree::Node& node = tree.nodes[i];
        paths[i] = node.parent == CallTree::kNone ? sanitized_text(folded_frame(node.name))
                                                  : paths[node.parent] + ";" + folded_frame(node.name);
        if (node.device_ns > 0) sink.write(fmt::format("{} {}\n", paths[i], node.device_ns));
    }
    return {};
}

}  // namespace gpuprof::exporters
