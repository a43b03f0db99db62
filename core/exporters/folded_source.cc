// Warp samples of instructions as folded stacks: kernel, source line, stall reason. Every kernel has its own tree; a line
// without source is `unknown line`.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/csv.h"
#include "core/base/utf8.h"
#include "core/exporters/exporter.h"
#include "core/exporters/instruction_samples.h"

namespace gpuprof {
namespace {

std::string frame(std::string_view name) {
    std::string text = printable(name);
    std::replace(text.begin(), text.end(), ';', ',');
    return text;
}

}  // namespace

Status export_folded_source(const Trace& trace, Sink& sink) {
    for (const InstructionSamples& each : instruction_samples(trace)) {
        std::string line = each.line > 0 ? fmt::format("{}:{}", frame(each.file), each.line) : "unknown line";
        std::string stack = fmt::format("{};{};{}", frame(each.kernel), line, frame(each.reason));
        sink.write(fmt::format("{} {}\n", sanitized_text(stack), each.count));
    }
    return {};
}

}  // namespace gpuprof
