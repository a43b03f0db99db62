// The place in the program from which device work came, in words of the recording: the framework's operator with its shapes, the
// module, the line of the program's own Python code, the range, the node of a CUDA graph, the XLA instruction. Whatever was recorded.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "analyze/facts/idle/host_timeline.h"
#include "core/base/ids.h"

namespace gpuprof::inline facts {

class Facts;

class CodePlaces {
public:
    static CodePlaces make(const Facts& facts);
    // "aten::bmm [[24, 1350, 1350], [24, 1350, 72]] in Attention_3, forward (model.py:120), range train/forward"; "" if nothing around
    // the call was recorded.
    std::string of_call(const Facts& facts, Row call) const;
    // The same for a kernel, also of a graph, or without its call.
    std::string of_kernel(const Facts& facts, Row kernel) const;
    // Where a node of a graph was captured, by its row in graph_node: what was around it then.
    std::string of_graph_node(const Facts& facts, Row node) const;
    // The same for the operator whose selected kernels take longest.
    std::string of_kernels(const Facts& facts, const std::function<bool(Row kernel)>& selected) const;

private:
    struct Around;
    static void look_around(const Trace& trace, const HostThread& thread, TimeNs time, Around& found);
    static std::string joined(const Trace& trace, const Around& found);
    std::string finished(const Trace& trace, Around& found, StringId stack) const;

    std::optional<HostTimeline> timeline_;  // absent in recordings without host spans, and in very large ones
};

}  // namespace gpuprof::facts
