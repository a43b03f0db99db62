// Warp samples of instructions as folded stacks: kernel, source line, stall reason. Every kernel has its own tree; a line
// without source is `unknown line`.
#include <fmt/format.h>

#include "core/base/text/csv.h"
#include "io/exporters/exporter.h"
#include "io/exporters/folded_frame.h"
#include "io/exporters/instruction_samples.h"

namespace gpuprof::inline exporters {
Status export_folded_source(const Trace& trace, Sink& sink) {
    for (const InstructionSamples& each : instruction_samples(trace)) {
        std::string line = each.line > 0 ? fmt::format("{}:{}", folded_frame(each.file), each.line) : "unknown line";
        std::string stack = fmt::format("{};{};{}", folded_frame(each.kernel), line, folded_frame(each.reason));
        sink.write(fmt::format("{} {}\n", sanitized_text(stack), each.count));
    }
    return {};
}

}  // namespace gpuprof::exporters
