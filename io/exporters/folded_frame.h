// Folded stacks of a tree: one line for each node that has a value, its frames from outermost to innermost. A frame is a name made printable, in
// which `;` becomes `,`. Memory is linear in the nodes; the text is not, because a line repeats the frames of all callers, so it has a limit.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files/sink.h"
#include "core/base/result.h"
#include "core/base/text/utf8.h"

namespace gpuprof::inline exporters {

inline constexpr std::uint64_t kMaxFoldedBytes = std::uint64_t{1} << 30;

inline std::string folded_frame(std::string_view name) {
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
        if (nodes[i].value > 0) total += lengths[i], depth = std::max<std::uint64_t>(depth, depths[i]);
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

}  // namespace gpuprof::exporters
